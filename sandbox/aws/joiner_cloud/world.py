"""All state of the emulated account that moto does not keep, and the settings. Built once by ``__main__``."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import TYPE_CHECKING, Any

from . import ACCOUNT_ID
from .calls import Calls
from .faults import Faults
from .keys import Keys
from .limits import Limits

if TYPE_CHECKING:
    from .clusters import Cluster
    from .ec2.entities import Instance


@dataclasses.dataclass
class Settings:
    """What the command line sets. Times in seconds."""

    region: str = "us-west-2"
    pending_seconds: float = 0.0
    shutting_down_seconds: float = 0.0
    check_credentials: bool = True
    check_policies: bool = True
    rate_limits: bool = False
    state_dir: str = "."


class World:
    """The account. ``lock`` guards everything that changes, moto included, for moto is not thread-safe."""

    def __init__(self, settings: Settings) -> None:
        from .ec2.store import Store

        self.settings = settings
        self.account = ACCOUNT_ID
        self.lock = threading.RLock()
        self.ready = threading.Event()
        self.broken: str | None = None
        self.ec2 = Store(self.state_changed, self._planned)
        self.faults = Faults()
        self.calls = Calls()
        self.limits = Limits()
        self.keys = Keys()
        self.clusters: dict[str, Cluster] = {}
        self.issuers: dict[str, dict[str, Any]] = {}  # issuer -> JWKS
        self.parameters: dict[str, tuple[str, float]] = {}
        self.quotas: dict[str, float] = {}  # code -> value, where it was set
        self._messages = threading.Condition()
        self._arrivals = 0  # rises when a queue may have got a message
        self._wake = threading.Condition()

    # --- instances and time

    def region_of(self, instance: Instance) -> str:
        return instance.zone.rstrip("abcdefghijklmnopqrstuvwxyz") if instance.zone else self.settings.region

    def state_changed(self, instance: Instance, state: str) -> None:
        """Tells EventBridge of a state."""
        from .events import instance_state

        instance_state(self, instance, state)

    def _planned(self) -> None:
        """Something may be due sooner than the timeline thinks."""
        with self._wake:
            self._wake.notify_all()

    def message_may_have_come(self) -> None:
        with self._messages:
            self._arrivals += 1
            self._messages.notify_all()

    def arrivals(self) -> int:
        with self._messages:
            return self._arrivals

    def wait_for_message(self, seen: int, seconds: float) -> None:
        """Returns when something arrived after ``seen`` was read, at the latest after ``seconds``. Takes no other lock."""
        with self._messages:
            self._messages.wait_for(lambda: self._arrivals > seen, seconds)

    def advance(self) -> None:
        """Carries out what is due. Callers hold the lock; each read of instances calls it first."""
        from .ec2.instances import mark_shutting_down

        now = time.time()
        while interrupted := self.ec2.advance(now):
            for instance in interrupted:
                text = "Server.SpotInstanceTermination: Spot instance termination"
                mark_shutting_down(self, instance, "Server.SpotInstanceTermination", text)

    def run_timeline(self) -> None:
        """Carries out planned states when nobody asks; runs for ever in its own thread."""
        while True:
            with self._wake:
                due = self.ec2.next_due()
                if due is None or due > time.time():
                    self._wake.wait(None if due is None else min(due - time.time(), 60.0))
            with self.lock:
                self.advance()
