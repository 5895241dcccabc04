"""CreateTags, DeleteTags and DescribeTags over our records and moto's."""

from __future__ import annotations

from typing import Any

from .. import network
from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import PASS, action
from ..world import World
from .entities import Instance
from .filters import matches, page
from .store import NOT_FOUND, not_found
from .tagspec import tag_dict

OURS = ("i", "vol", "eni", "lt", "ami", "fleet", "sir", "cr", "pg")


def _split(world: World, call: Call) -> tuple[list[Any], list[str]]:
    """(our records, ids that are moto's). An id that does not exist is an error, as on EC2."""
    ids = call.params.get("Resources") or []
    if not ids:
        raise missing("ResourceId")
    mine, theirs = [], []
    for resource_id in ids:
        record = world.ec2.tagged(resource_id)
        if record is not None:
            mine.append(record)
        elif _is_motos(call.region, resource_id):
            theirs.append(resource_id)
        else:
            raise not_found(resource_id)
    return mine, theirs


def _is_motos(region: str, resource_id: str) -> bool:
    backend = network.ec2(region)
    prefix = resource_id.partition("-")[0]
    if prefix == "subnet":
        return any(s.id == resource_id for s in network.subnets(region))
    if prefix == "sg":
        return backend.get_security_group_from_id(resource_id) is not None
    if prefix == "vpc":
        return resource_id in backend.vpcs
    if prefix == "vol":
        return resource_id in backend.volumes
    if prefix == "eni":
        return resource_id in backend.enis
    return prefix not in NOT_FOUND


@action("ec2", "CreateTags", everywhere=True)
def create_tags(world: World, call: Call) -> Any:
    tags = tag_dict(call.params.get("Tags"))
    if not tags:
        raise missing("Tag")
    mine, theirs = _split(world, call)
    if call.params.get("DryRun"):
        raise dry_run()
    for record in mine:
        if len({**record.tags, **tags}) > 50:
            raise AwsError("TagLimitExceeded", "The maximum number of tags on a resource is 50")
    for record in mine:
        record.tags.update(tags)
        if isinstance(record, Instance):
            world.ec2.touch(record)
    if theirs:
        network.ec2(call.region).create_tags(theirs, tags)
    return {}


@action("ec2", "DeleteTags", everywhere=True)
def delete_tags(world: World, call: Call) -> Any:
    mine, theirs = _split(world, call)
    asked = call.params.get("Tags")
    if call.params.get("DryRun"):
        raise dry_run()
    for record in mine:
        if not asked:
            record.tags.clear()
        for tag in asked or []:
            key = tag.get("Key", "")
            if key in record.tags and tag.get("Value") in (None, record.tags[key]):
                del record.tags[key]
        if isinstance(record, Instance):
            world.ec2.touch(record)
    if theirs and not mine:
        return PASS
    if theirs:
        network.ec2(call.region).delete_tags(theirs, {t.get("Key", ""): t.get("Value") for t in asked or []})
    return {}


@action("ec2", "DescribeTags", everywhere=True)
def describe_tags(world: World, call: Call) -> Any:
    rows = [(rid, kind, k, v) for rid, kind, tags in world.ec2.all_tagged() for k, v in tags.items()]
    rows += [
        (t["resource_id"], t["resource_type"], t["key"], t["value"]) for t in network.ec2(call.region).describe_tags()
    ]
    for item in call.params.get("Filters") or []:
        name, wanted = item.get("Name", ""), item.get("Values") or []
        column = {"resource-id": 0, "resource-type": 1, "key": 2, "value": 3}.get(name)
        if column is None and name.startswith("tag:"):
            rows = [r for r in rows if r[2] == name[4:] and matches(r[3], wanted)]
        elif column is None:
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
        else:
            rows = [r for r in rows if matches(r[column], wanted)]
    some, token = page(rows, call.params, 1000, 5)
    return {
        "Tags": [{"ResourceId": i, "ResourceType": kind, "Key": k, "Value": v} for i, kind, k, v in some],
        "NextToken": token,
    }
