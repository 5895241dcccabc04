"""Settings and patches of moto 5.2.5, applied before it is imported. Private parts: the version is pinned for them.

* AWS's managed policies are loaded, since roles attach them.
* Regions are read once, not once a service.
* Offerings of instance types are not loaded for all regions at import (2 s of a start); ``catalogue`` reads one region's.
* The free addresses of a subnet count ours; networks in use by our instances cannot be deleted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import ACCOUNT_ID
from .errors import AwsError

if TYPE_CHECKING:
    from .world import World

OFFERINGS = "instance_type_offerings"


def before_import() -> None:
    """Must run before any other import of moto."""
    os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT_ID
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    # signing of moto's own boto3 calls, should there be any
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "moto")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "moto")
    # moto asks boto3 for the regions of each service, each time with a new session that reads all endpoints again
    import boto3

    session = boto3.Session()
    session_type, boto3.Session = boto3.Session, lambda *args, **kwargs: session  # type: ignore[misc,assignment]
    try:
        _import_with_one_region()
    finally:
        boto3.Session = session_type  # type: ignore[misc]


def _import_with_one_region() -> None:
    import moto.utilities.utils as utilities

    original = utilities.load_resource

    def load_resource(resource: str) -> Any:
        return [] if OFFERINGS in str(resource) else original(resource)

    utilities.load_resource = load_resource
    global _load
    _load = original
    import moto.ec2.models  # noqa: F401


_load: Any = None


def offerings(region: str, location_type: str) -> list[dict[str, str]]:
    """moto's rows of one region; none for a region that it does not know."""
    import pathlib

    import moto.ec2

    folder = pathlib.Path(moto.ec2.__file__).parent / "resources" / OFFERINGS / location_type
    for file in sorted(folder.glob(f"{region}.json*")):
        return _load(f"ec2/resources/{OFFERINGS}/{location_type}/{file.name}")
    return []


def patch(world: World) -> None:
    """After the import: networks learn of our instances."""
    from moto.ec2.models.subnets import Subnet

    original = Subnet.available_ip_address_count.fget  # type: ignore[attr-defined]

    def available(subnet: Any) -> int:
        ours = sum(1 for n in world.ec2.interfaces.values() if n.subnet_id == subnet.id)
        return original(subnet) - ours

    Subnet.available_ip_address_count = property(available)  # type: ignore[assignment,method-assign]


def check_unused(world: World, what: str, resource_id: str) -> None:
    """``DependencyViolation`` for a subnet or security group that our instances use."""
    for interface in world.ec2.interfaces.values():
        if resource_id == interface.subnet_id or any(g["GroupId"] == resource_id for g in interface.groups):
            raise AwsError(
                "DependencyViolation",
                f"The {what} '{resource_id}' has dependencies and cannot be deleted (instance {interface.instance_id} uses it).",
            )
