"""Instance types, where they are offered, and zones, from the data that moto ships. Read only."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def types() -> dict[str, dict[str, Any]]:
    """Type name -> EC2's ``InstanceTypeInfo``."""
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    return INSTANCE_TYPES


@functools.cache
def offerings(region: str, location_type: str) -> list[tuple[str, str]]:
    """(type, location) pairs, sorted."""
    from .mototune import offerings as rows

    return sorted(
        (row["InstanceType"], row["Location"]) for row in rows(region, location_type) if row["InstanceType"] in types()
    )


@functools.cache
def offered(region: str) -> dict[str, frozenset[str]]:
    """Type -> zones that offer it."""
    out: dict[str, set[str]] = {}
    for name, zone in offerings(region, "availability-zone"):
        out.setdefault(name, set()).add(zone)
    return {name: frozenset(zones) for name, zones in out.items()}


@functools.cache
def zones(region: str) -> list[tuple[str, str]]:
    """(zone name, zone id) of a region, sorted by name."""
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    found = RegionsAndZonesBackend.zones.get(region, [])
    return sorted((zone.name, zone.zone_id) for zone in found)


def zone_id(region: str, zone: str) -> str:
    return dict(zones(region)).get(zone, "")


def architectures(type_name: str) -> list[str]:
    return types()[type_name].get("ProcessorInfo", {}).get("SupportedArchitectures", [])


def vcpus(type_name: str) -> int:
    return types()[type_name]["VCpuInfo"]["DefaultVCpus"]


def memory_mib(type_name: str) -> int:
    return types()[type_name]["MemoryInfo"]["SizeInMiB"]
