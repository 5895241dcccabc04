"""Placement groups: made, described, deleted, and named by launches. Where instances land is not modelled."""

from __future__ import annotations

from typing import Any

from .. import ACCOUNT_ID
from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import action
from ..world import World
from .entities import ALIVE, PlacementGroup
from .filters import Getter, compile_filters
from .store import new_id
from .tagspec import tag_list, tags_for

STRATEGIES = ("cluster", "spread", "partition")
FILTERS: dict[str, Getter] = {
    "group-name": lambda g: g.name,
    "state": lambda g: "available",
    "strategy": lambda g: g.strategy,
}


def by_name(world: World, name: str) -> PlacementGroup:
    found = next((g for g in world.ec2.groups.values() if g.name == name), None)
    if found is None:
        raise AwsError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
    return found


def by_id(world: World, identity: str) -> PlacementGroup:
    found = world.ec2.groups.get(identity)
    if found is None:
        raise AwsError("InvalidPlacementGroupId.NotFound", f"The placement group ID '{identity}' does not exist")
    return found


def describe(group: PlacementGroup, region: str) -> dict[str, Any]:
    return {
        "GroupId": group.id, "GroupName": group.name, "State": "available", "Strategy": group.strategy,
        "PartitionCount": group.partitions, "Tags": tag_list(group.tags),
        "GroupArn": f"arn:aws:ec2:{region}:{ACCOUNT_ID}:placement-group/{group.name}",
    }  # fmt: skip


@action("ec2", "CreatePlacementGroup")
def create(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    name, strategy = params.get("GroupName"), params.get("Strategy") or "cluster"
    if not name:
        raise missing("GroupName")
    if strategy not in STRATEGIES:
        raise AwsError("InvalidParameterValue", f"'{strategy}' is no strategy; there are {', '.join(STRATEGIES)}")
    if any(g.name == name for g in world.ec2.groups.values()):
        raise AwsError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
    if params.get("DryRun"):
        raise dry_run()
    partitions = int(params.get("PartitionCount") or 2) if strategy == "partition" else None
    tags = tags_for(params.get("TagSpecifications"), "placement-group")
    made = PlacementGroup(new_id("pg"), name, strategy, partitions, tags)
    world.ec2.groups[made.id] = made
    return {"PlacementGroup": describe(made, call.region)}


@action("ec2", "DescribePlacementGroups")
def describe_all(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    chosen = [by_name(world, n) for n in params.get("GroupNames") or []]
    chosen += [by_id(world, i) for i in params.get("GroupIds") or []]
    if not params.get("GroupNames") and not params.get("GroupIds"):
        chosen = list(world.ec2.groups.values())
    fits = compile_filters(params.get("Filters"), FILTERS)
    return {"PlacementGroups": [describe(g, call.region) for g in chosen if fits(g)]}


@action("ec2", "DeletePlacementGroup")
def delete(world: World, call: Call) -> dict[str, Any]:
    found = by_name(world, call.params.get("GroupName") or "")
    if any(i.placement.get("GroupId") == found.id and i.state in ALIVE for i in world.ec2.instances.values()):
        raise AwsError("InvalidPlacementGroup.InUse", f"The placement group '{found.name}' is in use.")
    if call.params.get("DryRun"):
        raise dry_run()
    del world.ec2.groups[found.id]
    return {}


def placed(world: World, placement: dict[str, Any]) -> dict[str, Any]:
    """A launch's placement with both the name and the id of the group that it names."""
    if placement.get("GroupId"):
        group = by_id(world, placement["GroupId"])
    elif placement.get("GroupName"):
        group = by_name(world, placement["GroupName"])
    else:
        return placement
    return {**placement, "GroupId": group.id, "GroupName": group.name}
