"""Everything of EC2 that the sandbox keeps itself, and the feed of changed instances.

Callers hold the account's lock for every method but ``wait``. Invariant: each change of an instance raises
``seq`` and wakes the waiting readers; a record leaves the store an hour after its termination.
"""

from __future__ import annotations

import heapq
import itertools
import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import AwsError
from .entities import (
    ALIVE,
    CapacityReservation,
    Fleet,
    Image,
    Instance,
    Interface,
    PlacementGroup,
    SpotRequest,
    Template,
    Volume,
)

KEPT_AFTER_TERMINATION = 3600.0
Change = Callable[[Instance, str], None]

# what each id prefix is called in "does not exist" errors
NOT_FOUND = {
    "i": ("InvalidInstanceID.NotFound", "The instance ID '{}' does not exist"),
    "vol": ("InvalidVolume.NotFound", "The volume '{}' does not exist."),
    "eni": ("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '{}' does not exist"),
    "lt": ("InvalidLaunchTemplateId.NotFound", "The launch template '{}' does not exist"),
    "ami": ("InvalidAMIID.NotFound", "The image id '[{}]' does not exist"),
    "fleet": ("InvalidFleetId.NotFound", "The fleet ID '{}' does not exist"),
    "cr": ("InvalidCapacityReservationId.NotFound", "The Capacity Reservation ID '{}' does not exist"),
    "pg": ("InvalidPlacementGroupId.NotFound", "The placement group ID '{}' does not exist"),
    "sir": ("InvalidSpotInstanceRequestID.NotFound", "The spot instance request ID '{}' does not exist"),
    "subnet": ("InvalidSubnetID.NotFound", "The subnet ID '{}' does not exist"),
    "sg": ("InvalidGroup.NotFound", "The security group '{}' does not exist"),
    "vpc": ("InvalidVpcID.NotFound", "The vpc ID '{}' does not exist"),
}


def not_found(resource_id: str) -> AwsError:
    prefix = resource_id.partition("-")[0]
    code, text = NOT_FOUND.get(prefix, ("InvalidID", "The ID '{}' is not valid"))
    return AwsError(code, text.format(resource_id))


def new_id(prefix: str) -> str:
    """A resource id of AWS's shape: 17 hexadecimal digits, but for fleets and spot requests."""
    if prefix == "fleet":
        h = secrets.token_hex(16)
        return f"fleet-{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
    if prefix == "sir":
        return "sir-" + "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(8))
    return f"{prefix}-0{secrets.token_hex(8)}"


class Store:
    def __init__(self, on_state: Change, on_plan: Callable[[], None]) -> None:
        self.instances: dict[str, Instance] = {}
        self.volumes: dict[str, Volume] = {}
        self.interfaces: dict[str, Interface] = {}
        self.spot_requests: dict[str, SpotRequest] = {}
        self.fleets: dict[str, Fleet] = {}
        self.templates: dict[str, Template] = {}
        self.images: dict[str, Image] = {}
        self.reservations: dict[str, CapacityReservation] = {}
        self.groups: dict[str, PlacementGroup] = {}
        self.tokens: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        self.seq = 0
        self._on_state = on_state
        self._on_plan = on_plan
        self._feed = threading.Condition()
        self._due: list[tuple[float, int, str, str]] = []
        self._order = itertools.count()

    # --- the feed

    def touch(self, instance: Instance) -> None:
        """Notes that an instance changed: drops its rendered form and wakes the readers of the feed."""
        with self._feed:
            self.seq += 1
            instance.seq = self.seq
            instance.xml = None
            self._feed.notify_all()

    def wait(self, after: int, seconds: float) -> None:
        """Returns as soon as something changed after ``after``, at the latest after ``seconds``."""
        with self._feed:
            self._feed.wait_for(lambda: self.seq > after, seconds)

    def changed(self, after: int) -> list[Instance]:
        return sorted((i for i in self.instances.values() if i.seq > after), key=lambda i: i.seq)

    # --- states

    def set_state(self, instance: Instance, state: str) -> None:
        if instance.state != state:
            instance.state = state
            self.touch(instance)
            self._on_state(instance, state)

    def later(self, when: float, instance_id: str, state: str) -> None:
        """Plans a state for an instance; ``advance`` carries it out."""
        heapq.heappush(self._due, (when, next(self._order), instance_id, state))
        self._on_plan()

    def next_due(self) -> float | None:
        return self._due[0][0] if self._due else None

    def advance(self, now: float) -> list[Instance]:
        """Carries out planned states that are due. Returns the instances whose spot capacity is to be taken back now."""
        interrupted = []
        while self._due and self._due[0][0] <= now:
            _, _, instance_id, state = heapq.heappop(self._due)
            instance = self.instances.get(instance_id)
            if instance is None:
                continue
            if state == "gone":
                self.forget(instance)
            elif state == "interrupted":
                if instance.state in ALIVE:
                    interrupted.append(instance)
            elif _follows(instance.state, state):
                if state == "terminated":
                    instance.terminated = now
                    self.later(now + KEPT_AFTER_TERMINATION, instance_id, "gone")
                self.set_state(instance, state)
        return interrupted

    def forget(self, instance: Instance) -> None:
        self.instances.pop(instance.id, None)
        if instance.spot_request_id:
            self.spot_requests.pop(instance.spot_request_id, None)

    # --- look-ups

    def tagged(self, resource_id: str) -> Any:
        """The record with this id that carries ``tags``, or None when it is not ours."""
        prefix = resource_id.partition("-")[0]
        tables: dict[str, dict[str, Any]] = {
            "i": self.instances,
            "vol": self.volumes,
            "eni": self.interfaces,
            "lt": self.templates,
            "ami": self.images,
            "fleet": self.fleets,
            "sir": self.spot_requests,
            "cr": self.reservations,
            "pg": self.groups,
        }
        return tables.get(prefix, {}).get(resource_id)

    def all_tagged(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """(id, resource type, tags) of all our records."""
        for kind, table in (
            ("instance", self.instances),
            ("volume", self.volumes),
            ("network-interface", self.interfaces),
            ("launch-template", self.templates),
            ("image", self.images),
            ("fleet", self.fleets),
            ("spot-instances-request", self.spot_requests),
            ("capacity-reservation", self.reservations),
            ("placement-group", self.groups),
        ):
            for record in table.values():
                yield record.id, kind, record.tags


def _follows(state: str, planned: str) -> bool:
    """Whether a planned state still makes sense: a terminated instance never runs again."""
    allowed = {
        "running": ("pending",),
        "terminated": ("shutting-down",),
        "stopped": ("stopping",),
    }
    return state in allowed.get(planned, ())
