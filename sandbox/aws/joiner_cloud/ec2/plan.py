"""What a pool (type, subnet, image) would be launched with, or why it cannot be.

``Planner`` lives for one request and remembers what the request's pools share: a fleet of 200 pools has one image and
three subnets.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Callable
from typing import Any

from .. import catalogue, network
from ..errors import AwsError, missing
from ..world import World
from .devices import volumes_of
from .entities import Image
from .groups import placed
from .reservations import check as check_reservation

USER_DATA_LIMIT = 16384


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
    placement: dict[str, Any] = dataclasses.field(default_factory=dict)
    profile: Any = None
    template: dict[str, str] | None = None
    max_price: str | None = None
    fleet_id: str | None = None
    client_token: str = ""


class Planner:
    def __init__(self, world: World, region: str) -> None:
        self.world, self.region = world, region
        self._known: dict[tuple[Any, ...], Any] = {}

    def _once(self, key: tuple[Any, ...], find: Callable[[], Any]) -> Any:
        """The result of ``find``, or the error that it raised, computed once a request."""
        if key not in self._known:
            try:
                self._known[key] = find()
            except AwsError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, AwsError):
            raise found
        return found

    def _subnet(self, subnet_id: str | None, zone: str | None) -> Any:
        if subnet_id:
            return self._once(("subnet", subnet_id), lambda: network.subnet(self.region, subnet_id))
        return self._once(("zone", zone), lambda: network.default_subnet(self.region, zone))

    def plan(self, data: dict[str, Any], zone: str | None, lifecycle: str | None) -> Plan:
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
        plan.subnet = self._subnet(subnet_id, placement_zone)
        plan.zone = plan.subnet.availability_zone
        if placement_zone and placement_zone != plan.zone:
            raise AwsError(
                "InvalidParameterValue",
                f"The subnet '{plan.subnet.id}' is in the availability zone '{plan.zone}', which does not match the "
                f"requested '{placement_zone}'",
            )
        if plan.zone not in catalogue.offered(self.region).get(type_name, frozenset()):
            raise AwsError(
                "Unsupported",
                f"Your requested instance type ({type_name}) is not supported in your requested Availability Zone "
                f"({plan.zone}). Please retry your request by not specifying an Availability Zone or choosing "
                + (", ".join(sorted(catalogue.offered(self.region).get(type_name, ()))) or "another region")
                + ".",
            )
        if lifecycle == "spot" and "spot" not in catalogue.types()[type_name].get("SupportedUsageClasses", []):
            raise AwsError("Unsupported", f"The requested instance type ({type_name}) is not supported as spot.")
        plan.image = self._once(("image", data.get("ImageId")), lambda: find_image(self.world, data.get("ImageId")))
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
        check_reservation(self.world, plan)
        plan.placement = placed(self.world, dict(data.get("Placement") or {}))
        subnet, image = plan.subnet, plan.image
        plan.groups = self._once(
            ("groups", subnet.id, *ids), lambda: network.security_groups(self.region, ids, subnet.vpc_id, subnet.id)
        )
        if profile := data.get("IamInstanceProfile"):
            plan.profile = self._once(("profile", *profile.items()), lambda: network.profile(profile))
        self._once(("key", data.get("KeyName")), lambda: network.check_key_pair(self.region, data.get("KeyName")))
        self._once(("user data", data.get("UserData")), lambda: _check_user_data(data.get("UserData")))
        self._once(("devices", image.id, id(data.get("BlockDeviceMappings"))), lambda: volumes_of(data, image))
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


def _check_user_data(text: str | None) -> None:
    if not text:
        return
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from None
    if size > USER_DATA_LIMIT:
        raise AwsError("InvalidParameterValue", f"User data is limited to {USER_DATA_LIMIT} bytes; this is {size}")
