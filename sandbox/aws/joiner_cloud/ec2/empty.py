"""What the account does not have: capacity reservations, placement groups and the like. Empty lists, not errors."""

from __future__ import annotations

from typing import Any

from ..call import Call
from ..errors import AwsError
from ..registry import action
from ..world import World


@action("ec2", "DescribeCapacityReservations", locks=False)
def reservations(world: World, call: Call) -> dict[str, Any]:
    for wanted in call.params.get("CapacityReservationIds") or []:
        raise AwsError(
            "InvalidCapacityReservationId.NotFound", f"The Capacity Reservation ID '{wanted}' does not exist"
        )
    return {"CapacityReservations": []}


@action("ec2", "DescribePlacementGroups", locks=False)
def placement_groups(world: World, call: Call) -> dict[str, Any]:
    for wanted in call.params.get("GroupNames") or []:
        raise AwsError("InvalidPlacementGroup.Unknown", f"The Placement Group '{wanted}' is unknown.")
    for wanted in call.params.get("GroupIds") or []:
        raise AwsError("InvalidPlacementGroupId.NotFound", f"The placement group ID '{wanted}' does not exist")
    return {"PlacementGroups": []}


@action("ec2", "DescribeInstanceTopology", locks=False)
def topology(world: World, call: Call) -> dict[str, Any]:
    return {"Instances": []}


@action("ec2", "DescribeCapacityBlockOfferings", locks=False)
def blocks(world: World, call: Call) -> dict[str, Any]:
    return {"CapacityBlockOfferings": []}
