"""What the account does not have. Empty lists, not errors."""

from __future__ import annotations

from typing import Any

from ..call import Call
from ..registry import action
from ..world import World


@action("ec2", "DescribeInstanceTopology", locks=False)
def topology(world: World, call: Call) -> dict[str, Any]:
    return {"Instances": []}


@action("ec2", "DescribeCapacityBlockOfferings", locks=False)
def blocks(world: World, call: Call) -> dict[str, Any]:
    return {"CapacityBlockOfferings": []}
