"""DescribeInstanceTypes and DescribeInstanceTypeOfferings, in pages and rendered once."""

from __future__ import annotations

import functools
from typing import Any

from .. import catalogue
from ..call import Call
from ..errors import AwsError, dry_run
from ..registry import action
from ..wire import Raw, writer
from ..world import World
from .filters import Getter, compile_filters, page

MOST_TYPES, MOST_OFFERINGS = 100, 1000


@functools.cache
def type_xml(name: str) -> Raw:
    return Raw(writer("ec2", "InstanceTypeInfo")(catalogue.types()[name]))


@functools.cache
def _filters() -> dict[str, Getter]:
    from moto.ec2.models.instance_types import InstanceType

    return {name: _at(path) for name, path in InstanceType._filter_attributes.items()}


def _at(path: list[str]) -> Getter:
    def get(info: dict[str, Any]) -> Any:
        value: Any = info
        for key in path:
            if isinstance(value, list):
                value = [v.get(key) for v in value]
            else:
                value = (value or {}).get(key)
        return value

    return get


@action("ec2", "DescribeInstanceTypes", locks=False)
def describe_types(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    table = catalogue.types()
    here = catalogue.offered(call.region)
    names = params.get("InstanceTypes")
    if names:
        if params.get("MaxResults") is not None:
            raise AwsError("InvalidParameterCombination", "MaxResults may not be combined with InstanceTypes")
        lost = [n for n in names if n not in table or (here and n not in here)]
        if lost:
            raise AwsError(
                "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(lost)}]"
            )
    else:
        names = sorted(n for n in table if not here or n in here)
    wanted = compile_filters(params.get("Filters"), _filters())
    found = [n for n in names if wanted(table[n])]
    some, token = page(found, params, MOST_TYPES, 5)
    return {"InstanceTypes": [type_xml(n) for n in some], "NextToken": token}


OFFERING_FILTERS: dict[str, Getter] = {"instance-type": lambda row: row[0], "location": lambda row: row[1]}


@action("ec2", "DescribeInstanceTypeOfferings", locks=False)
def describe_offerings(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    kind = params.get("LocationType", "region")
    if kind not in ("region", "availability-zone", "availability-zone-id"):
        raise AwsError("InvalidParameterValue", f"Invalid value '{kind}' for LocationType")
    wanted = compile_filters(params.get("Filters"), OFFERING_FILTERS)
    found = [row for row in catalogue.offerings(call.region, kind) if wanted(row)]
    some, token = page(found, params, MOST_OFFERINGS, 5)
    return {
        "InstanceTypeOfferings": [
            Raw(f"<instanceType>{t}</instanceType><location>{where}</location><locationType>{kind}</locationType>")
            for t, where in some
        ],
        "NextToken": token,
    }
