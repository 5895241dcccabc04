"""Faults on demand: insufficient capacity, throttling, latency, a lost response, an outage, any error.

A fault matches a call by action (``ec2:CreateFleet``, ``CreateFleet``, wildcards allowed) and, for insufficient
capacity, a pool by instance type, zone and capacity type. ``times`` counts down with each use; absent, it lasts.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import threading
from typing import Any

from .errors import AwsError

KINDS = ("insufficient-capacity", "throttle", "latency", "lost-response", "outage", "error")
MATCHES = ("action", "instanceType", "zone", "capacityType")
FIELDS = ("kind", "match", "times", "milliseconds", "code", "message", "status")


@dataclasses.dataclass
class Fault:
    id: int
    kind: str
    match: dict[str, str]
    times: int | None
    milliseconds: float
    code: str | None
    message: str
    status: int | None
    used: int = 0

    def describe(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


class Faults:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._next = 1

    def add(self, spec: Any) -> dict[str, Any]:
        """Checks and adds one fault; ``AwsError`` says what is wrong with it."""
        if not isinstance(spec, dict):
            raise AwsError("InvalidFault", "a fault must be an object")
        if unknown := sorted(set(spec) - set(FIELDS)):
            raise AwsError("InvalidFault", f"unknown field {unknown[0]!r}; expected {', '.join(FIELDS)}")
        kind = spec.get("kind")
        if kind not in KINDS:
            raise AwsError("InvalidFault", f"kind {kind!r} is unknown; one of {', '.join(KINDS)} is expected")
        match = spec.get("match") or {}
        if unknown := sorted(set(match) - set(MATCHES)):
            raise AwsError("InvalidFault", f"unknown match {unknown[0]!r}; expected {', '.join(MATCHES)}")
        if kind == "error" and not spec.get("code"):
            raise AwsError("InvalidFault", "a fault of kind 'error' needs a code")
        times = spec.get("times")
        if times is not None and (not isinstance(times, int) or times < 1):
            raise AwsError("InvalidFault", f"times must be a positive whole number, not {times!r}")
        with self._lock:
            fault = Fault(
                self._next, kind, dict(match), times, float(spec.get("milliseconds") or 0), spec.get("code"),
                spec.get("message") or "injected by the sandbox", spec.get("status"),
            )  # fmt: skip
            self._next += 1
            self._faults.append(fault)
        return fault.describe()

    def describe(self) -> list[dict[str, Any]]:
        with self._lock:
            return [f.describe() for f in self._faults]

    def clear(self, fault_id: int | None = None) -> int:
        with self._lock:
            before = len(self._faults)
            self._faults = [f for f in self._faults if fault_id is not None and f.id != fault_id]
            return before - len(self._faults)

    def for_call(self, service: str, action: str) -> list[Fault]:
        """The faults that this call meets, used up by one; insufficient capacity is not among them."""
        if not self._faults:
            return []
        with self._lock:
            return [
                self._use(f)
                for f in list(self._faults)
                if f.kind != "insufficient-capacity" and _action(f.match.get("action", "*"), service, action)
            ]

    def insufficient_capacity(self, instance_type: str, zone: str, capacity_type: str) -> bool:
        """Whether a pool has no capacity now; uses the fault that says so."""
        if not self._faults:
            return False
        with self._lock:
            for fault in self._faults:
                if (
                    fault.kind == "insufficient-capacity"
                    and fnmatch.fnmatchcase(instance_type, fault.match.get("instanceType", "*"))
                    and fnmatch.fnmatchcase(zone, fault.match.get("zone", "*"))
                    and fnmatch.fnmatchcase(capacity_type, fault.match.get("capacityType", "*"))
                ):
                    self._use(fault)
                    return True
        return False

    def _use(self, fault: Fault) -> Fault:
        fault.used += 1
        if fault.times is not None and fault.used >= fault.times:
            self._faults.remove(fault)
        return fault


def _action(pattern: str, service: str, action: str) -> bool:
    return fnmatch.fnmatchcase(f"{service}:{action}", pattern if ":" in pattern else f"*:{pattern}")
