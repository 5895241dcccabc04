"""EC2's request token buckets, per account and region (EC2 User Guide, "Request throttling").

The clock is an argument; a refused request takes no token.
"""

from __future__ import annotations

import threading

# action -> (tokens a second, bucket size)
OWN = {
    "RunInstances": (2.0, 5.0),
    "CreateFleet": (2.0, 5.0),
    "StartInstances": (2.0, 5.0),
    "TerminateInstances": (5.0, 100.0),
    "CreateTags": (10.0, 100.0),
}
READING = (20.0, 100.0)
WRITING = (5.0, 50.0)


class Limits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, region: str, action: str, now: float) -> bool:
        """Whether the call may go on."""
        if action in OWN:
            name, (rate, size) = action, OWN[action]
        elif action.startswith(("Describe", "Get", "List", "Search")):
            name, (rate, size) = "reading", READING
        else:
            name, (rate, size) = "writing", WRITING
        with self._lock:
            level, then = self._buckets.get((region, name), (size, now))
            level = min(size, level + (now - then) * rate)
            allowed = level >= 1.0
            self._buckets[(region, name)] = (level - 1.0 if allowed else level, now)
            return allowed
