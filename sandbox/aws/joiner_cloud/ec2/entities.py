"""The records that the sandbox keeps itself. Plain data; times are seconds since 1970, sizes GiB."""

from __future__ import annotations

import dataclasses
from typing import Any

STATE_CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
ALIVE = ("pending", "running", "stopping", "stopped")


@dataclasses.dataclass(slots=True)
class Volume:
    id: str
    instance_id: str
    device: str
    zone: str
    size: int
    kind: str
    iops: int | None
    throughput: int | None
    encrypted: bool
    kms_key_id: str | None
    snapshot_id: str | None
    delete_on_termination: bool
    created: float
    tags: dict[str, str]


@dataclasses.dataclass(slots=True)
class Interface:
    id: str
    instance_id: str
    attachment_id: str
    subnet_id: str
    vpc_id: str
    zone: str
    private_ip: str
    private_dns: str
    mac: str
    device_index: int
    card_index: int
    kind: str
    public_ip: str | None
    groups: list[dict[str, str]]
    description: str
    created: float
    tags: dict[str, str]
    attach: dict[str, Any]


@dataclasses.dataclass(slots=True)
class Instance:
    id: str
    reservation_id: str
    owner: str
    type: str
    arch: str
    image_id: str
    image_name: str
    root_device: str
    subnet_id: str
    vpc_id: str
    zone: str
    zone_id: str
    private_ip: str
    private_dns: str
    groups: list[dict[str, str]]
    key_name: str | None
    profile_arn: str | None
    profile_id: str | None
    user_data: str  # base64, as sent
    launched: float
    lifecycle: str | None  # "spot" or None
    spot_request_id: str | None
    volumes: list[Volume]
    interfaces: list[Interface]
    metadata: dict[str, Any]
    monitoring: bool
    placement: dict[str, Any]
    launch_index: int
    client_token: str
    fleet_id: str | None
    template: dict[str, str] | None
    extras: dict[str, Any]
    tags: dict[str, str]
    state: str = "pending"
    transition_reason: str = ""
    state_reason: tuple[str, str] | None = None
    terminated: float | None = None
    capacity_reservation_id: str | None = None
    seq: int = 0
    xml: str | None = None


@dataclasses.dataclass(slots=True)
class SpotRequest:
    id: str
    instance_id: str | None
    type: str
    zone: str
    image_id: str
    subnet_id: str
    max_price: str
    created: float
    state: str
    status: str
    tags: dict[str, str]


@dataclasses.dataclass(slots=True)
class Fleet:
    id: str
    created: float
    request: dict[str, Any]
    instances: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    tags: dict[str, str]
    state: str = "active"


@dataclasses.dataclass(slots=True)
class CapacityReservation:
    id: str
    owner: str
    type: str
    platform: str
    zone: str
    tenancy: str
    total: int
    criteria: str  # open or targeted
    end: float | None
    created: float
    tags: dict[str, str]
    state: str = "active"


@dataclasses.dataclass(slots=True)
class PlacementGroup:
    id: str
    name: str
    strategy: str
    partitions: int | None
    tags: dict[str, str]


@dataclasses.dataclass(slots=True)
class TemplateVersion:
    number: int
    data: dict[str, Any]
    description: str | None
    created: float


@dataclasses.dataclass(slots=True)
class Template:
    id: str
    name: str
    created: float
    created_by: str
    versions: list[TemplateVersion]
    default: int
    tags: dict[str, str]


@dataclasses.dataclass(slots=True)
class Image:
    id: str
    name: str
    owner: str
    alias: str | None
    arch: str
    root_device: str
    created: float
    description: str
    devices: list[dict[str, Any]]
    family: str  # AL2023, Bottlerocket or Custom
    tags: dict[str, str]
    deprecated: float | None = None
    public: bool = True
