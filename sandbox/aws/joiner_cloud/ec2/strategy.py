"""In which order a fleet tries its pools. Ties break by price, then type, then zone: same input, same order."""

from __future__ import annotations

from typing import Any

from .. import catalogue, prices
from ..errors import AwsError

ON_DEMAND, SPOT = "on-demand", "spot"
ON_DEMAND_STRATEGIES = ("lowest-price", "prioritized")
SPOT_STRATEGIES = (
    "lowest-price",
    "diversified",
    "capacity-optimized",
    "capacity-optimized-prioritized",
    "price-capacity-optimized",
)


def order(capacity_type: str, strategy: str | None, region: str, pools: list[Any]) -> list[Any]:
    """Pools with ``type``, ``override`` and ``plan`` sorted as the strategy wants them.

    A pool without a plan cannot be launched and comes first, so that its error is always in the answer.
    """
    known = SPOT_STRATEGIES if capacity_type == SPOT else ON_DEMAND_STRATEGIES
    strategy = (strategy or "lowest-price").replace("_", "-")
    strategy = {"lowestPrice": "lowest-price", "capacityOptimized": "capacity-optimized"}.get(strategy, strategy)
    if strategy not in known:
        raise AwsError(
            "InvalidParameterValue",
            f"Unknown {capacity_type} allocation strategy '{strategy}'; one of {', '.join(known)} is expected",
        )

    def rank(pool: Any) -> tuple[Any, ...]:
        if pool.plan is None or pool.type not in catalogue.types():
            return (0, 0, 0, pool.type, "")
        zone = pool.plan.zone
        price = prices.spot(region, pool.type, zone) if capacity_type == SPOT else prices.on_demand(region, pool.type)
        priority = pool.override.get("Priority")
        first = float("inf") if priority is None else float(priority)
        depth = prices.spot_depth(pool.type, zone)
        primary: tuple[Any, ...] = {
            "lowest-price": (price,),
            "diversified": (price,),
            "prioritized": (first, price),
            "capacity-optimized": (-depth, price),
            "capacity-optimized-prioritized": (first, -depth),
            # cheap first, but a pool with little spare capacity counts as up to 15 % dearer
            "price-capacity-optimized": (price * (1.0 + 0.15 * (1.0 - depth)),),
        }[strategy]
        return (1, *primary, price, pool.type, zone)

    return sorted(pools, key=rank)
