"""What the sandbox asks of moto's networks: subnets, security groups, addresses, key pairs, profiles.

The only module besides ``mototune`` that reaches into moto's models. Callers hold the account's lock.
"""

from __future__ import annotations

from typing import Any

from . import ACCOUNT_ID
from .errors import AwsError


def ec2(region: str) -> Any:
    from moto.ec2.models import ec2_backends

    return ec2_backends[ACCOUNT_ID][region]


def iam() -> Any:
    from moto.iam.models import iam_backends

    return iam_backends[ACCOUNT_ID]["aws"]


def subnet(region: str, subnet_id: str) -> Any:
    """moto's subnet with this id; ``InvalidSubnetID.NotFound`` otherwise."""
    for by_zone in ec2(region).subnets.values():
        if subnet_id in by_zone:
            return by_zone[subnet_id]
    raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist")


def subnets(region: str) -> list[Any]:
    return [s for by_zone in ec2(region).subnets.values() for s in by_zone.values()]


def default_subnet(region: str, zone: str | None) -> Any:
    """The default VPC's subnet in a zone, or in the first one."""
    found = sorted(
        (s for s in subnets(region) if str(s.default_for_az).lower() == "true"), key=lambda s: s.availability_zone
    )
    for candidate in found:
        if zone in (None, candidate.availability_zone):
            return candidate
    if zone:
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    raise AwsError("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")


def security_groups(region: str, ids: list[str], vpc_id: str, subnet_id: str) -> list[dict[str, str]]:
    """The groups as instances list them; without ids the VPC's default group."""
    backend = ec2(region)
    if not ids:
        default = backend.get_security_group_from_name("default", vpc_id)
        return [{"GroupId": default.id, "GroupName": default.name}] if default else []
    out = []
    for group_id in dict.fromkeys(ids):
        group = backend.get_security_group_from_id(group_id)
        if group is None:
            raise AwsError("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
        if group.vpc_id and group.vpc_id != vpc_id:
            raise AwsError(
                "InvalidParameter", f"Security group {group_id} and subnet {subnet_id} belong to different networks."
            )
        out.append({"GroupId": group.id, "GroupName": group.name})
    return out


def check_key_pair(region: str, name: str | None) -> None:
    if name and name not in ec2(region).keypairs:
        raise AwsError("InvalidKeyPair.NotFound", f"The key pair '{name}' does not exist")


def take_address(place: Any, holder: Any, wanted: str | None = None) -> str:
    """One free private address of a subnet, until ``give_back``."""
    if wanted:
        if wanted in place._subnet_ips:
            raise AwsError("InvalidIPAddress.InUse", f"Address {wanted} is in use.")
        place.request_ip(wanted, holder)
        return wanted
    try:
        return place.get_available_subnet_ip(holder)
    except (StopIteration, RuntimeError):
        raise AwsError(
            "InsufficientFreeAddressesInSubnet",
            f"There are not enough free addresses in subnet '{place.id}' to satisfy the requested number of instances.",
        ) from None


def give_back(region: str, subnet_id: str, address: str) -> None:
    try:
        subnet(region, subnet_id).del_subnet_ip(address)
    except AwsError:
        pass  # the subnet is gone, and its addresses with it


def profile(spec: dict[str, str]) -> Any:
    """moto's instance profile by ``Name`` or ``Arn``; it must exist and hold a role."""
    name, arn = spec.get("Name"), spec.get("Arn")
    if name and arn:
        raise AwsError(
            "InvalidParameterCombination",
            "The parameter 'iamInstanceProfile.name' may not be used in combination with 'iamInstanceProfile.arn'",
        )
    for candidate in iam().instance_profiles.values():
        if candidate.name == name or candidate.arn == arn:
            if not candidate.roles:
                raise AwsError(
                    "InvalidParameterValue", f'IAM Instance Profile "{candidate.arn}" has no associated IAM Roles'
                )
            return candidate
    if name:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({name}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
        )
    raise AwsError(
        "InvalidParameterValue",
        f"Value ({arn}) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN",
    )
