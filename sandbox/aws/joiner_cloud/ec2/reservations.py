"""On-demand capacity reservations: made, described, cancelled, and used by launches that name them.

A reservation holds ``TotalInstanceCount`` instances of a type in a zone. An instance that was launched into one keeps its place
until it ends; a launch that names one that is full fails. A launch that names none uses none, not even an open one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .. import ACCOUNT_ID, catalogue
from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import action
from ..wire import from_iso
from ..world import World
from .entities import ALIVE, CapacityReservation
from .filters import Getter, compile_filters, page
from .store import new_id, not_found
from .tagspec import tag_list, tags_for

if TYPE_CHECKING:
    from .plan import Plan

FILTERS: dict[str, Getter] = {
    "instance-type": lambda r: r.type,
    "owner-id": lambda r: r.owner,
    "instance-platform": lambda r: r.platform,
    "availability-zone": lambda r: r.zone,
    "tenancy": lambda r: r.tenancy,
    "state": lambda r: state_of(r),
    "instance-match-criteria": lambda r: r.criteria,
}


def state_of(reservation: CapacityReservation) -> str:
    """Its state now: one whose end has come has expired."""
    ended = reservation.end is not None and reservation.end <= time.time()
    return "expired" if reservation.state == "active" and ended else reservation.state


def available(world: World, reservation: CapacityReservation) -> int:
    used = sum(
        1 for i in world.ec2.instances.values() if i.capacity_reservation_id == reservation.id and i.state in ALIVE
    )
    return max(reservation.total - used, 0) if state_of(reservation) == "active" else 0


def describe(world: World, reservation: CapacityReservation, region: str) -> dict[str, Any]:
    out = {
        "CapacityReservationId": reservation.id, "OwnerId": reservation.owner, "InstanceType": reservation.type,
        "CapacityReservationArn": f"arn:aws:ec2:{region}:{ACCOUNT_ID}:capacity-reservation/{reservation.id}",
        "AvailabilityZone": reservation.zone, "AvailabilityZoneId": catalogue.zone_id(region, reservation.zone),
        "InstancePlatform": reservation.platform, "Tenancy": reservation.tenancy, "TotalInstanceCount": reservation.total,
        "AvailableInstanceCount": available(world, reservation), "State": state_of(reservation),
        "StartDate": reservation.created, "CreateDate": reservation.created, "ReservationType": "default",
        "EndDateType": "limited" if reservation.end is not None else "unlimited",
        "InstanceMatchCriteria": reservation.criteria, "EbsOptimized": False, "EphemeralStorage": False,
        "Tags": tag_list(reservation.tags),
    }  # fmt: skip
    if reservation.end is not None:
        out["EndDate"] = reservation.end
    return out


def pick(world: World, identity: str) -> CapacityReservation:
    found = world.ec2.reservations.get(identity)
    if found is None:
        raise not_found(identity)
    return found


@action("ec2", "CreateCapacityReservation")
def create(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    for name in ("InstanceType", "InstancePlatform", "AvailabilityZone", "InstanceCount"):
        if not params.get(name):
            raise missing(name)
    kind, zone = params["InstanceType"], params["AvailabilityZone"]
    if zone not in catalogue.offered(call.region).get(kind, frozenset()):
        raise AwsError("Unsupported", f"The requested instance type {kind} is not offered in {zone}.")
    end = None
    if params.get("EndDateType") == "limited":
        end = from_iso(str(params.get("EndDate") or ""))
        if end <= time.time():
            raise AwsError("InvalidParameterValue", "EndDate must be in the future")
    if params.get("DryRun"):
        raise dry_run()
    made = CapacityReservation(
        id=new_id("cr"), owner=ACCOUNT_ID, type=kind, platform=params["InstancePlatform"], zone=zone,
        tenancy=params.get("Tenancy") or "default", total=int(params["InstanceCount"]), end=end, created=time.time(),
        criteria=params.get("InstanceMatchCriteria") or "open",
        tags=tags_for(params.get("TagSpecifications"), "capacity-reservation"),
    )  # fmt: skip
    world.ec2.reservations[made.id] = made
    return {"CapacityReservation": describe(world, made, call.region)}


@action("ec2", "DescribeCapacityReservations")
def describe_all(world: World, call: Call) -> dict[str, Any]:
    ids = call.params.get("CapacityReservationIds") or []
    chosen = [pick(world, i) for i in ids] or list(world.ec2.reservations.values())
    fits = compile_filters(call.params.get("Filters"), FILTERS)
    some, token = page([r for r in chosen if fits(r)], call.params, 1000)
    return {"CapacityReservations": [describe(world, r, call.region) for r in some], "NextToken": token}


@action("ec2", "CancelCapacityReservation")
def cancel(world: World, call: Call) -> dict[str, Any]:
    found = pick(world, call.params.get("CapacityReservationId") or "")
    if call.params.get("DryRun"):
        raise dry_run()
    found.state = "cancelled"
    for instance in world.ec2.instances.values():
        if instance.capacity_reservation_id == found.id:
            # It runs on, on demand.
            instance.capacity_reservation_id = None
            world.ec2.touch(instance)
    return {"Return": True}


def target(data: dict[str, Any]) -> str | None:
    """The reservation that a launch names."""
    spec = data.get("CapacityReservationSpecification") or {}
    return (spec.get("CapacityReservationTarget") or {}).get("CapacityReservationId")


def check(world: World, plan: Plan) -> None:
    """Raises when the reservation that a launch names can never serve it."""
    identity = target(plan.data)
    if identity is None:
        return
    found = pick(world, identity)
    if (found.type, found.zone) != (plan.type, plan.zone):
        raise AwsError(
            "InvalidParameterValue",
            f"The capacity reservation '{identity}' is of {found.type} in {found.zone}, not of {plan.type} in {plan.zone}.",
        )
    if state_of(found) != "active":
        raise AwsError(
            "InvalidCapacityReservationState.Unavailable", f"The capacity reservation '{identity}' is {state_of(found)}."
        )


def take(world: World, plan: Plan, count: int) -> str | None:
    """The reservation that ``count`` instances go into; raises where it has no room for them."""
    identity = target(plan.data)
    if identity is not None and available(world, pick(world, identity)) < count:
        raise AwsError(
            "ReservationCapacityExceeded",
            "The requested reservation does not have sufficient compatible and available capacity for this request.",
        )
    return identity
