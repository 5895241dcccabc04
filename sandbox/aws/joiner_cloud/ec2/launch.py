"""From a plan to instances.

``check_capacity`` and ``check_price`` raise what EC2 would answer for a pool now; ``launch`` creates the instances, their
volumes, interfaces and spot requests. Callers hold the account's lock.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from .. import ACCOUNT_ID, catalogue, network, prices
from ..errors import AwsError
from ..world import World
from .devices import volumes_of
from .entities import Instance, Interface, SpotRequest
from .plan import Plan
from .reservations import take
from .store import new_id
from .tagspec import tags_for

# members that a launch template and RunInstances have in common and that only travel through
EXTRAS = (
    "CpuOptions", "CreditSpecification", "EnclaveOptions", "HibernationOptions", "MaintenanceOptions",
    "PrivateDnsNameOptions", "CapacityReservationSpecification", "EbsOptimized", "InstanceInitiatedShutdownBehavior",
)  # fmt: skip


def check_capacity(world: World, plan: Plan) -> None:
    """Raises when an injected fault says that the pool has no capacity now."""
    capacity_type = "spot" if plan.lifecycle == "spot" else "on-demand"
    if not world.faults.insufficient_capacity(plan.type, plan.zone, capacity_type):
        return
    if plan.lifecycle == "spot":
        raise AwsError(
            "InsufficientInstanceCapacity", "There is no Spot capacity available that matches your request.", 500
        )
    raise AwsError(
        "InsufficientInstanceCapacity",
        f"We currently do not have sufficient {plan.type} capacity in the Availability Zone you requested ({plan.zone}). "
        "Our system will be working on provisioning additional capacity. You can currently get capacity by not "
        "specifying an Availability Zone in your request or choosing another one.",
        500,
    )


def check_price(world: World, plan: Plan, region: str) -> None:
    if plan.lifecycle == "spot" and plan.max_price:
        price = prices.dollars(prices.spot(region, plan.type, plan.zone))
        try:
            too_low = float(plan.max_price) < float(price)
        except ValueError:
            raise AwsError("InvalidParameterValue", f"'{plan.max_price}' is no price") from None
        if too_low:
            raise AwsError(
                "SpotMaxPriceTooLow",
                f"Your Spot request price of {plan.max_price} is lower than the minimum required Spot request fulfillment price of {price}.",
            )


def launch(
    world: World, plan: Plan, count: int, region: str, reservation_id: str, first_index: int = 0
) -> list[Instance]:
    """Creates ``count`` instances; all of them or, when addresses run out, none."""
    made: list[Instance] = []
    reserved = take(world, plan, count)
    try:
        for index in range(count):
            made.append(_one(world, plan, region, reservation_id, first_index + index))
    except AwsError:
        for instance in made:
            discard(world, instance, region)
        raise
    now = time.time()
    for instance in made:
        instance.capacity_reservation_id = reserved
        world.ec2.touch(instance)
        world.state_changed(instance, "pending")
        world.ec2.later(now + world.settings.pending_seconds, instance.id, "running")
    return made


def _one(world: World, plan: Plan, region: str, reservation_id: str, index: int) -> Instance:
    data, store, now = plan.data, world.ec2, time.time()
    assert plan.image is not None
    instance_id = new_id("i")
    specs = data.get("TagSpecifications")
    address = network.take_address(plan.subnet, instance_id, data.get("PrivateIpAddress"))
    dns = private_dns(address, region)
    volumes = volumes_of(data, plan.image, instance_id, plan.zone, now, tags_for(specs, "volume"))
    interfaces = _interfaces(plan, instance_id, address, dns, now, region)
    spot_request = None
    if plan.lifecycle == "spot":
        spot_request = SpotRequest(
            id=new_id("sir"), instance_id=instance_id, type=plan.type, zone=plan.zone, image_id=plan.image.id,
            subnet_id=plan.subnet.id, created=now, state="active", status="fulfilled",
            max_price=plan.max_price or prices.dollars(prices.on_demand(region, plan.type)),
            tags=tags_for(specs, "spot-instances-request"),
        )  # fmt: skip
        store.spot_requests[spot_request.id] = spot_request
    instance = Instance(
        id=instance_id, reservation_id=reservation_id, owner=ACCOUNT_ID, type=plan.type, arch=plan.image.arch,
        image_id=plan.image.id, image_name=plan.image.name, root_device=plan.image.root_device,
        subnet_id=plan.subnet.id, vpc_id=plan.subnet.vpc_id, zone=plan.zone, zone_id=catalogue.zone_id(region, plan.zone),
        private_ip=address, private_dns=dns, groups=plan.groups, key_name=data.get("KeyName"),
        profile_arn=plan.profile.arn if plan.profile else None, profile_id=plan.profile.id if plan.profile else None,
        user_data=data.get("UserData") or "", launched=now, lifecycle=plan.lifecycle,
        spot_request_id=spot_request.id if spot_request else None, volumes=volumes, interfaces=interfaces,
        metadata=data.get("MetadataOptions") or {}, monitoring=bool((data.get("Monitoring") or {}).get("Enabled")),
        placement=dict(plan.placement), launch_index=index, client_token=plan.client_token,
        fleet_id=plan.fleet_id, template=plan.template,
        extras={k: data[k] for k in EXTRAS if data.get(k) is not None}, tags=_instance_tags(plan, specs),
    )  # fmt: skip
    store.instances[instance.id] = instance
    for volume in volumes:
        store.volumes[volume.id] = volume
    for interface in interfaces:
        store.interfaces[interface.id] = interface
    return instance


def _instance_tags(plan: Plan, specs: list[dict[str, Any]] | None) -> dict[str, str]:
    tags = tags_for(specs, "instance")
    if plan.template:
        tags["aws:ec2launchtemplate:id"] = plan.template["id"]
        tags["aws:ec2launchtemplate:version"] = plan.template["version"]
    if plan.fleet_id:
        tags["aws:ec2:fleet-id"] = plan.fleet_id
    return tags


def private_dns(address: str, region: str) -> str:
    """us-east-1 has its own domain, every other region carries its name."""
    domain = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
    return f"ip-{address.replace('.', '-')}.{domain}"


def _interfaces(plan: Plan, instance_id: str, address: str, dns: str, now: float, region: str) -> list[Interface]:
    specs = plan.data.get("NetworkInterfaces") or [{"DeviceIndex": 0}]
    tags = tags_for(plan.data.get("TagSpecifications"), "network-interface")
    out = []
    for number, spec in enumerate(specs):
        primary = number == 0
        ip = address if primary else network.take_address(plan.subnet, instance_id)
        public = spec.get("AssociatePublicIpAddress")
        if public is None:
            public = str(plan.subnet.map_public_ip_on_launch).lower() == "true"
        out.append(
            Interface(
                id=new_id("eni"), instance_id=instance_id, attachment_id=new_id("eni-attach"), subnet_id=plan.subnet.id,
                vpc_id=plan.subnet.vpc_id, zone=plan.zone, private_ip=ip, private_dns=private_dns(ip, region),
                mac="02:" + ":".join(f"{b:02x}" for b in secrets.token_bytes(5)),
                device_index=spec.get("DeviceIndex", 0), card_index=spec.get("NetworkCardIndex", 0),
                kind=spec.get("InterfaceType", "interface"),
                public_ip="54." + ".".join(ip.split(".")[1:]) if public and primary else None, groups=plan.groups,
                description=spec.get("Description", ""), created=now, tags=dict(tags),
                attach={"DeleteOnTermination": spec.get("DeleteOnTermination", True)},
            )
        )  # fmt: skip
    return out


def discard(world: World, instance: Instance, region: str) -> None:
    """Gives back what an instance holds: addresses, interfaces, volumes that go with it."""
    store = world.ec2
    for interface in instance.interfaces:
        store.interfaces.pop(interface.id, None)
        network.give_back(region, interface.subnet_id, interface.private_ip)
    for volume in instance.volumes:
        if volume.delete_on_termination:
            store.volumes.pop(volume.id, None)
        else:
            volume.instance_id = ""
    if instance.state == "pending" and instance.seq == 0:
        store.forget(instance)
