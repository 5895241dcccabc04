"""What the node agent needs to know of each instance."""

from __future__ import annotations

import base64
from typing import Any

from . import catalogue, prices
from .ec2.entities import Instance
from .wire import iso
from .world import World

CLUSTER_TAG = "kubernetes.io/cluster/"


def instances(world: World, after: int) -> dict[str, Any]:
    """All instances that changed after ``after``, terminated ones included, in the order of their changes."""
    return {"seq": world.ec2.seq, "instances": [describe(world, i) for i in world.ec2.changed(after)]}


def cluster_of(tags: dict[str, str]) -> str | None:
    """The cluster that an instance belongs to, by its tags."""
    if name := tags.get("eks:eks-cluster-name") or tags.get("aws:eks:cluster-name"):
        return name
    for key in tags:
        if key.startswith(CLUSTER_TAG):
            return key[len(CLUSTER_TAG) :]
    return tags.get("karpenter.sh/discovery")


def describe(world: World, i: Instance) -> dict[str, Any]:
    try:
        user_data = base64.b64decode(i.user_data).decode("utf-8", "replace")
    except ValueError:
        user_data = i.user_data
    image = world.ec2.images.get(i.image_id)
    return {
        "id": i.id, "state": i.state, "seq": i.seq, "type": i.type, "arch": i.arch, "zone": i.zone, "zoneId": i.zone_id,
        "privateIp": i.private_ip, "privateDnsName": i.private_dns, "userData": user_data, "imageId": i.image_id,
        "imageName": i.image_name, "amiFamily": image.family if image else "Custom", "launchTime": iso(i.launched),
        "lifecycle": i.lifecycle or "on-demand", "tags": i.tags, "vcpu": catalogue.vcpus(i.type),
        "memoryMiB": catalogue.memory_mib(i.type), "instanceProfile": i.profile_arn, "cluster": cluster_of(i.tags),
        "providerId": f"aws:///{i.zone}/{i.id}", "subnetId": i.subnet_id,
        "pricePerHour": prices.dollars(_price(world, i)),
    }  # fmt: skip


def _price(world: World, i: Instance) -> int:
    """What it costs now, in micro-dollars per hour."""
    region = world.settings.region
    if i.lifecycle == "spot":
        return prices.spot(region, i.type, i.zone)
    return prices.on_demand(region, i.type)
