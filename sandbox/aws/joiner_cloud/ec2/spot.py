"""Spot prices and spot requests."""

from __future__ import annotations

import time
from typing import Any

from .. import catalogue, prices
from ..call import Call
from ..errors import AwsError, dry_run
from ..registry import action
from ..wire import Raw, from_iso, iso
from ..world import World
from .filters import compile_filters, page
from .tagspec import tag_list

PRODUCT = "Linux/UNIX"
SAME_PRICE = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
MOST = 1000
FILTERS = {
    "instance-type": lambda r: r[0],
    "availability-zone": lambda r: r[1],
    "product-description": lambda r: r[2],
    "spot-price": lambda r: r[3],
    "timestamp": lambda r: r[4],
}


@action("ec2", "DescribeSpotPriceHistory", locks=False)
def history(world: World, call: Call) -> dict[str, Any]:
    """The price of each pool since the start of its day. Prices never change, so there is one row a pool and product."""
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    now = time.time()
    start = from_iso(params["StartTime"]) if params.get("StartTime") else now - 86400
    end = from_iso(params["EndTime"]) if params.get("EndTime") else now
    if start > end + 1:
        raise AwsError("InvalidParameterValue", "StartTime must not be later than EndTime")
    # EC2 gives the price that was in force at StartTime, too: so one row always
    stamp = iso(min(end, now) // 3600 * 3600)
    types = params.get("InstanceTypes")
    zone = params.get("AvailabilityZone")
    products = params.get("ProductDescriptions") or [PRODUCT]
    table = catalogue.types()
    chosen = set(types) if types else None
    rows = []
    for name, where in catalogue.offerings(call.region, "availability-zone"):
        if (
            (chosen is None or name in chosen)
            and zone in (None, where)
            and "spot" in table[name].get("SupportedUsageClasses", [])
        ):
            price = prices.dollars(prices.spot(call.region, name, where))
            rows += [(name, where, p, price, stamp) for p in products if p in SAME_PRICE]
    wanted = compile_filters(params.get("Filters"), FILTERS)
    some, token = page([r for r in rows if wanted(r)], params, MOST)
    return {
        "SpotPriceHistory": [
            Raw(
                f"<instanceType>{t}</instanceType><productDescription>{p}</productDescription><spotPrice>{price}</spotPrice>"
                f"<timestamp>{when}</timestamp><availabilityZone>{where}</availabilityZone>"
            )
            for t, where, p, price, when in some
        ],
        "NextToken": token or "",
    }


REQUEST_FILTERS = {
    "spot-instance-request-id": lambda r: r.id,
    "instance-id": lambda r: r.instance_id,
    "state": lambda r: r.state,
    "status-code": lambda r: r.status,
    "launch.instance-type": lambda r: r.type,
}


@action("ec2", "DescribeSpotInstanceRequests")
def requests(world: World, call: Call) -> dict[str, Any]:
    wanted = compile_filters(call.params.get("Filters"), REQUEST_FILTERS)
    ids = call.params.get("SpotInstanceRequestIds")
    for wanted_id in ids or []:
        if wanted_id not in world.ec2.spot_requests:
            raise AwsError(
                "InvalidSpotInstanceRequestID.NotFound", f"The spot instance request ID '{wanted_id}' does not exist"
            )
    found = [r for r in world.ec2.spot_requests.values() if wanted(r) and (not ids or r.id in ids)]
    return {
        "SpotInstanceRequests": [
            {
                "SpotInstanceRequestId": r.id, "InstanceId": r.instance_id, "State": r.state, "CreateTime": r.created,
                "Type": "one-time", "SpotPrice": r.max_price, "LaunchedAvailabilityZone": r.zone, "Tags": tag_list(r.tags),
                "Status": {"Code": r.status, "Message": "", "UpdateTime": r.created}, "ProductDescription": PRODUCT,
                "LaunchSpecification": {"InstanceType": r.type, "ImageId": r.image_id, "SubnetId": r.subnet_id},
            }
            for r in found
        ]
    }  # fmt: skip


@action("ec2", "CancelSpotInstanceRequests")
def cancel(world: World, call: Call) -> dict[str, Any]:
    out = []
    for request_id in call.params.get("SpotInstanceRequestIds") or []:
        request = world.ec2.spot_requests.get(request_id)
        if request is None:
            raise AwsError(
                "InvalidSpotInstanceRequestID.NotFound", f"The spot instance request ID '{request_id}' does not exist"
            )
        request.state, request.status = "cancelled", "request-canceled-and-instance-running"
        out.append({"SpotInstanceRequestId": request_id, "State": "cancelled"})
    return {"CancelledSpotInstanceRequests": out}
