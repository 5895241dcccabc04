"""Counts of calls and the list of recent ones, for tests and for debugging."""

from __future__ import annotations

import collections
import threading
import time
from typing import Any

RECENT = 2000


class Calls:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: collections.Counter[str] = collections.Counter()
        self._recent: collections.deque[dict[str, Any]] = collections.deque(maxlen=RECENT)

    def note(self, name: str, caller: str, status: int, seconds: float, error: str | None) -> None:
        entry = {
            "time": round(time.time(), 3), "call": name, "caller": caller, "status": status,
            "ms": round(seconds * 1000, 2), "error": error,
        }  # fmt: skip
        with self._lock:
            self._counts[name] += 1
            self._recent.append(entry)

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._counts.items()))

    def recent(self, most: int) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._recent)[-most:]

    def clear(self) -> None:
        with self._lock:
            self._counts.clear()
            self._recent.clear()
