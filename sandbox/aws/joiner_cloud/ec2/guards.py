"""Checks before moto answers: networks in use cannot be deleted, and a filter that moto would ignore or choke on is an
error that names it."""

from __future__ import annotations

from typing import Any

from ..call import Call
from ..errors import AwsError
from ..mototune import check_unused
from ..registry import PASS, action
from ..world import World


@action("ec2", "DeleteSubnet", everywhere=True)
def delete_subnet(world: World, call: Call) -> Any:
    check_unused(world, "subnet", call.params.get("SubnetId", ""))
    return PASS


@action("ec2", "DeleteSecurityGroup", everywhere=True)
def delete_group(world: World, call: Call) -> Any:
    check_unused(world, "security group", call.params.get("GroupId", ""))
    return PASS


KNOWN_FILTERS: dict[str, tuple[str, ...]] = {
    "DescribeSubnets": (
        "availability-zone", "availabilityZone", "availability-zone-id", "availabilityZoneId", "cidr-block", "cidr", "cidrBlock",
        "default-for-az", "defaultForAz", "state", "subnet-id", "vpc-id",
    ),
    "DescribeSecurityGroups": (
        "description", "group-id", "group-name", "owner-id", "vpc-id", "ip-permission.cidr", "ip-permission.from-port",
        "ip-permission.group-id", "ip-permission.group-name", "ip-permission.ipv6-cidr", "ip-permission.protocol",
        "ip-permission.to-port", "ip-permission.user-id", "egress.ip-permission.cidr", "egress.ip-permission.group-id",
    ),
}  # fmt: skip


@action("ec2", *KNOWN_FILTERS, everywhere=True)
def describe(world: World, call: Call) -> Any:
    known = KNOWN_FILTERS[call.action]
    for item in call.params.get("Filters") or []:
        name = item.get("Name", "")
        if name not in known and name != "tag-key" and not name.startswith("tag:"):
            raise AwsError(
                "InvalidParameterValue",
                f"The filter '{name}' is invalid (the sandbox knows tag:<key>, tag-key, {', '.join(known)})",
            )
    return PASS
