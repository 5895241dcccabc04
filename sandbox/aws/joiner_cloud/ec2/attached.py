"""Volumes, network interfaces and attributes of our instances, listed together with moto's own volumes and interfaces."""

from __future__ import annotations

from typing import Any

from .. import ACCOUNT_ID, network
from ..call import Call
from ..errors import AwsError, dry_run
from ..registry import PASS, action
from ..world import World
from .describe import by_ids, interface
from .entities import Instance, Interface, Volume
from .filters import compile_filters, page
from .store import not_found
from .tagspec import tag_list

VOLUME_FILTERS = {
    "volume-id": lambda v: v.id,
    "attachment.instance-id": lambda v: v.instance_id or None,
    "attachment.device": lambda v: v.device,
    "attachment.status": lambda v: "attached" if v.instance_id else None,
    "attachment.delete-on-termination": lambda v: v.delete_on_termination,
    "availability-zone": lambda v: v.zone,
    "encrypted": lambda v: v.encrypted,
    "size": lambda v: v.size,
    "snapshot-id": lambda v: v.snapshot_id,
    "status": lambda v: "in-use" if v.instance_id else "available",
    "volume-type": lambda v: v.kind,
}


def _volume(v: Volume) -> dict[str, Any]:
    attached = [
        {
            "VolumeId": v.id, "InstanceId": v.instance_id, "Device": v.device, "State": "attached", "AttachTime": v.created,
            "DeleteOnTermination": v.delete_on_termination,
        }
    ]  # fmt: skip
    return {
        "VolumeId": v.id, "Size": v.size, "VolumeType": v.kind, "Iops": v.iops, "Throughput": v.throughput, "State": "in-use" if v.instance_id else "available",
        "Encrypted": v.encrypted, "KmsKeyId": v.kms_key_id, "SnapshotId": v.snapshot_id or "", "AvailabilityZone": v.zone,
        "CreateTime": v.created, "Attachments": attached if v.instance_id else [], "Tags": tag_list(v.tags), "MultiAttachEnabled": False,
    }  # fmt: skip


def _motos_volumes(region: str) -> list[Volume]:
    return [
        Volume(
            v.id, v.attachment.instance.id if v.attachment else "", v.attachment.device if v.attachment else "", v.zone.name if hasattr(v.zone, "name") else str(v.zone),
            int(v.size), v.volume_type or "gp2", v.iops, v.throughput, bool(v.encrypted), v.kms_key_id, v.snapshot_id, False,
            v.create_time.timestamp() if hasattr(v.create_time, "timestamp") else 0.0, {t["key"]: t["value"] for t in v.get_tags()},
        )
        for v in network.ec2(region).volumes.values()
    ]  # fmt: skip


@action("ec2", "DescribeVolumes")
def describe_volumes(world: World, call: Call) -> Any:
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    table = {v.id: v for v in [*world.ec2.volumes.values(), *_motos_volumes(call.region)]}
    for wanted_id in params.get("VolumeIds") or []:
        if wanted_id not in table:
            raise not_found(wanted_id)
    found = [table[i] for i in params["VolumeIds"]] if params.get("VolumeIds") else list(table.values())
    wanted = compile_filters(params.get("Filters"), VOLUME_FILTERS)
    some, token = page([v for v in found if wanted(v)], params, 500, 5)
    return {"Volumes": [_volume(v) for v in some], "NextToken": token}


@action("ec2", "DeleteVolume")
def delete_volume(world: World, call: Call) -> Any:
    volume = world.ec2.volumes.get(call.params.get("VolumeId", ""))
    if volume is None:
        return PASS
    if volume.instance_id:
        raise AwsError("VolumeInUse", f"Volume {volume.id} is currently attached to {volume.instance_id}")
    if call.params.get("DryRun"):
        raise dry_run()
    del world.ec2.volumes[volume.id]
    return {}


INTERFACE_FILTERS = {
    "network-interface-id": lambda n: n.id,
    "attachment.instance-id": lambda n: n.instance_id,
    "attachment.attachment-id": lambda n: n.attachment_id,
    "attachment.device-index": lambda n: n.device_index,
    "attachment.status": lambda n: "attached",
    "attachment.instance-owner-id": lambda n: ACCOUNT_ID,
    "availability-zone": lambda n: n.zone,
    "description": lambda n: n.description,
    "group-id": lambda n: [g["GroupId"] for g in n.groups],
    "interface-type": lambda n: n.kind,
    "mac-address": lambda n: n.mac,
    "addresses.private-ip-address": lambda n: n.private_ip,
    "private-ip-address": lambda n: n.private_ip,
    "private-dns-name": lambda n: n.private_dns,
    "requester-id": lambda n: None,
    "status": lambda n: "in-use",
    "subnet-id": lambda n: n.subnet_id,
    "vpc-id": lambda n: n.vpc_id,
}


@action("ec2", "DescribeNetworkInterfaces")
def describe_interfaces(world: World, call: Call) -> Any:
    params = call.params
    ids = params.get("NetworkInterfaceIds")
    motos = network.ec2(call.region).enis
    if any(i not in world.ec2.interfaces for i in ids or []):
        return PASS
    wanted = compile_filters(params.get("Filters"), INTERFACE_FILTERS)
    chosen = [world.ec2.interfaces[i] for i in ids] if ids else list(world.ec2.interfaces.values())
    found = [n for n in chosen if wanted(n)]
    if not found and motos:
        return PASS
    some, token = page(found, params, 1000, 5)
    return {"NetworkInterfaces": [_interface(world, n) for n in some], "NextToken": token}


def _interface(world: World, n: Interface) -> dict[str, Any]:
    instance: Instance = world.ec2.instances[n.instance_id]
    out = interface(n, instance)
    out |= {"AvailabilityZone": n.zone, "RequesterManaged": False, "TagSet": tag_list(n.tags)}
    out["Attachment"] = {**out["Attachment"], "InstanceId": n.instance_id, "InstanceOwnerId": ACCOUNT_ID}
    return out


@action("ec2", "DescribeInstanceAttribute")
def attribute(world: World, call: Call) -> Any:
    instance = by_ids(world, [call.params.get("InstanceId", "")])[0]
    name = call.params.get("Attribute")
    values: dict[str, dict[str, Any]] = {
        "userData": {"UserData": {"Value": instance.user_data} if instance.user_data else {}},
        "instanceType": {"InstanceType": {"Value": instance.type}},
        "disableApiTermination": {"DisableApiTermination": {"Value": False}},
        "disableApiStop": {"DisableApiStop": {"Value": False}},
        "ebsOptimized": {"EbsOptimized": {"Value": bool(instance.extras.get("EbsOptimized"))}},
        "instanceInitiatedShutdownBehavior": {
            "InstanceInitiatedShutdownBehavior": {
                "Value": instance.extras.get("InstanceInitiatedShutdownBehavior", "stop")
            }
        },
        "rootDeviceName": {"RootDeviceName": {"Value": instance.root_device}},
        "sourceDestCheck": {"SourceDestCheck": {"Value": True}},
        "groupSet": {"Groups": instance.groups},
        "enaSupport": {"EnaSupport": {"Value": True}},
    }
    if name not in values:
        raise AwsError(
            "InvalidParameterValue",
            f"The sandbox does not know the attribute '{name}'; one of {', '.join(sorted(values))} is expected",
        )
    return {"InstanceId": instance.id, **values[name]}


@action("ec2", "ModifyInstanceMetadataOptions")
def metadata(world: World, call: Call) -> Any:
    instance = by_ids(world, [call.params.get("InstanceId", "")])[0]
    names = ("HttpTokens", "HttpPutResponseHopLimit", "HttpEndpoint", "HttpProtocolIpv6", "InstanceMetadataTags")
    instance.metadata = {**instance.metadata, **{k: call.params[k] for k in names if call.params.get(k) is not None}}
    world.ec2.touch(instance)
    return {"InstanceId": instance.id, "InstanceMetadataOptions": {"State": "applied", **instance.metadata}}
