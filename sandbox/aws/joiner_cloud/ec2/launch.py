"""From a request and a launch template to instances.

``Plan`` is what one pool (type, subnet, image) would be launched with; ``check`` raises what EC2 would answer for it;
``launch`` creates the instances, their volumes, interfaces and spot requests. Callers hold the account's lock.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import functools
import secrets
import time
from typing import Any

from .. import ACCOUNT_ID, catalogue, network, prices
from ..errors import AwsError, missing
from ..world import World
from .devices import volumes_of
from .entities import Image, Instance, Interface, SpotRequest
from .store import new_id
from .tagspec import tags_for

USER_DATA_LIMIT = 16384
# members that a launch template and RunInstances have in common and that only travel through
EXTRAS = (
    "CpuOptions", "CreditSpecification", "EnclaveOptions", "HibernationOptions", "MaintenanceOptions",
    "PrivateDnsNameOptions", "CapacityReservationSpecification", "EbsOptimized", "InstanceInitiatedShutdownBehavior",
)  # fmt: skip


@dataclasses.dataclass
class Plan:
    """One pool, fully resolved. ``data`` has the shape of a launch template's data."""

    data: dict[str, Any]
    type: str
    lifecycle: str | None
    subnet: Any = None
    zone: str = ""
    image: Image | None = None
    groups: list[dict[str, str]] = dataclasses.field(default_factory=list)
    profile: Any = None
    template: dict[str, str] | None = None
    max_price: str | None = None
    fleet_id: str | None = None
    client_token: str = ""


def make_plan(
    world: World,
    data: dict[str, Any],
    *,
    region: str,
    zone: str | None,
    lifecycle: str | None,
    ignore: tuple[str, ...] = (),
) -> Plan:
    """Resolves names to things and raises what EC2 would answer for a pool that cannot work."""
    type_name = data.get("InstanceType")
    if not type_name:
        raise missing("InstanceType")
    if type_name not in catalogue.types():
        raise AwsError("InvalidParameterValue", f"Invalid value '{type_name}' for InstanceType.")
    plan = Plan(data, type_name, lifecycle)
    interfaces = data.get("NetworkInterfaces") or []
    subnet_id = data.get("SubnetId") or next((n["SubnetId"] for n in interfaces if n.get("SubnetId")), None)
    placement_zone = zone or (data.get("Placement") or {}).get("AvailabilityZone")
    plan.subnet = network.subnet(region, subnet_id) if subnet_id else network.default_subnet(region, placement_zone)
    plan.zone = plan.subnet.availability_zone
    if placement_zone and placement_zone != plan.zone:
        raise AwsError(
            "InvalidParameterValue",
            f"The subnet '{plan.subnet.id}' is in the availability zone '{plan.zone}', which does not match the "
            f"requested '{placement_zone}'",
        )
    if plan.zone not in catalogue.offered(region).get(type_name, frozenset()):
        raise AwsError(
            "Unsupported",
            f"Your requested instance type ({type_name}) is not supported in your requested Availability Zone "
            f"({plan.zone}). Please retry your request by not specifying an Availability Zone or choosing "
            + (", ".join(sorted(catalogue.offered(region).get(type_name, ()))) or "another region")
            + ".",
        )
    if lifecycle == "spot" and "spot" not in catalogue.types()[type_name].get("SupportedUsageClasses", []):
        raise AwsError("Unsupported", f"The requested instance type ({type_name}) is not supported as spot.")
    plan.image = find_image(world, data.get("ImageId"))
    if plan.image.arch not in catalogue.architectures(type_name):
        raise AwsError(
            "InvalidParameterValue",
            f"The architecture '{','.join(catalogue.architectures(type_name))}' of the specified instance type does not "
            f"match the architecture '{plan.image.arch}' of the specified AMI. Specify an instance type and an AMI that "
            "have matching architectures, and try again.",
        )
    ids = list(data.get("SecurityGroupIds") or [])
    for entry in interfaces:
        ids += entry.get("Groups") or []
    if interfaces and data.get("SecurityGroupIds"):
        raise AwsError(
            "InvalidParameterCombination",
            "Network interfaces and an instance-level security groups may not be specified on the same request",
        )
    plan.groups = network.security_groups(region, ids, plan.subnet.vpc_id, plan.subnet.id)
    if data.get("IamInstanceProfile"):
        plan.profile = network.profile(data["IamInstanceProfile"])
    network.check_key_pair(region, data.get("KeyName"))
    _check_user_data(data.get("UserData") or "")
    volumes_of(data, plan.image)
    return plan


def find_image(world: World, image_id: str | None) -> Image:
    if not image_id:
        raise missing("ImageId")
    if image_id.startswith("resolve:ssm:"):
        from ..ssm import parameter_value

        image_id = parameter_value(world, image_id[len("resolve:ssm:") :])
    image = world.ec2.images.get(image_id)
    if image is None:
        if not image_id.startswith("ami-"):
            raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{image_id}" (expecting "ami-...")')
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist")
    return image


@functools.lru_cache(maxsize=64)
def _check_user_data(text: str) -> None:
    """Raises for user data that EC2 refuses; remembers what was fine, for a fleet checks it once a pool."""
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from None
    if size > USER_DATA_LIMIT:
        raise AwsError("InvalidParameterValue", f"User data is limited to {USER_DATA_LIMIT} bytes; this is {size}")


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
    try:
        for index in range(count):
            made.append(_one(world, plan, region, reservation_id, first_index + index))
    except AwsError:
        for instance in made:
            discard(world, instance, region)
        raise
    now = time.time()
    for instance in made:
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
        placement=dict(data.get("Placement") or {}), launch_index=index, client_token=plan.client_token,
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
