"""DescribeInstances and its kin. Each instance is rendered once per change, so that large answers are cheap."""

from __future__ import annotations

from typing import Any

from ..call import Call
from ..errors import AwsError, dry_run
from ..registry import action
from ..wire import Raw, iso, writer
from ..world import World
from .entities import STATE_CODES, Instance
from .filters import compile_filters, page
from .store import not_found
from .tagspec import tag_list

MOST = 1000
FILTERS = {
    "instance-id": lambda i: i.id,
    "instance-state-name": lambda i: i.state,
    "instance-state-code": lambda i: STATE_CODES[i.state],
    "instance-type": lambda i: i.type,
    "instance-lifecycle": lambda i: i.lifecycle,
    "architecture": lambda i: i.arch,
    "availability-zone": lambda i: i.zone,
    "availability-zone-id": lambda i: i.zone_id,
    "image-id": lambda i: i.image_id,
    "subnet-id": lambda i: i.subnet_id,
    "vpc-id": lambda i: i.vpc_id,
    "private-dns-name": lambda i: i.private_dns,
    "private-ip-address": lambda i: i.private_ip,
    "network-interface.private-dns-name": lambda i: [n.private_dns for n in i.interfaces],
    "network-interface.addresses.private-ip-address": lambda i: [n.private_ip for n in i.interfaces],
    "network-interface.network-interface-id": lambda i: [n.id for n in i.interfaces],
    "instance.group-id": lambda i: [g["GroupId"] for g in i.groups],
    "instance.group-name": lambda i: [g["GroupName"] for g in i.groups],
    "network-interface.group-id": lambda i: [g["GroupId"] for g in i.groups],
    "key-name": lambda i: i.key_name,
    "iam-instance-profile.arn": lambda i: i.profile_arn,
    "iam-instance-profile.id": lambda i: i.profile_id,
    "spot-instance-request-id": lambda i: i.spot_request_id,
    "reservation-id": lambda i: i.reservation_id,
    "client-token": lambda i: i.client_token,
    "owner-id": lambda i: i.owner,
    "launch-time": lambda i: iso(i.launched),
    "root-device-name": lambda i: i.root_device,
    "root-device-type": lambda i: "ebs",
    "tenancy": lambda i: i.placement.get("Tenancy", "default"),
    "placement-group-name": lambda i: i.placement.get("GroupName"),
    "virtualization-type": lambda i: "hvm",
    "metadata-options.http-tokens": lambda i: i.metadata.get("HttpTokens", "optional"),
}


def state(name: str) -> dict[str, Any]:
    return {"Code": STATE_CODES[name], "Name": name}


def describe_one(i: Instance) -> dict[str, Any]:
    """An instance in EC2's shape."""
    gone = i.state == "terminated"
    held = i.state not in ("shutting-down", "terminated")
    placement = {
        "AvailabilityZone": i.zone,
        "AvailabilityZoneId": i.zone_id,
        "Tenancy": "default",
        "GroupName": "",
        **i.placement,
    }
    placement["AvailabilityZone"] = i.zone
    out: dict[str, Any] = {
        "InstanceId": i.id, "ImageId": i.image_id, "State": state(i.state), "InstanceType": i.type, "Architecture": i.arch,
        "LaunchTime": i.launched, "Placement": placement, "AmiLaunchIndex": i.launch_index, "ClientToken": i.client_token,
        "PrivateDnsName": "" if gone else i.private_dns, "PublicDnsName": "", "StateTransitionReason": i.transition_reason,
        "EbsOptimized": bool(i.extras.get("EbsOptimized")), "EnaSupport": True, "Hypervisor": "xen",
        "VirtualizationType": "hvm", "RootDeviceName": i.root_device, "RootDeviceType": "ebs", "SourceDestCheck": True,
        "Monitoring": {"State": "enabled" if i.monitoring else "disabled"}, "Tags": tag_list(i.tags),
        "SecurityGroups": i.groups if held else [], "ProductCodes": [], "PlatformDetails": "Linux/UNIX",
        "UsageOperation": "RunInstances", "UsageOperationUpdateTime": i.launched, "BootMode": "uefi-preferred",
        "CurrentInstanceBootMode": "uefi", "KeyName": i.key_name, "InstanceLifecycle": i.lifecycle,
        "SpotInstanceRequestId": i.spot_request_id, "CapacityReservationId": i.capacity_reservation_id,
        "MetadataOptions": {
            "State": "applied", "HttpTokens": "optional", "HttpPutResponseHopLimit": 1, "HttpEndpoint": "enabled",
            "HttpProtocolIpv6": "disabled", "InstanceMetadataTags": "disabled", **i.metadata,
        },
        "EnclaveOptions": i.extras.get("EnclaveOptions") or {"Enabled": False},
        "HibernationOptions": i.extras.get("HibernationOptions") or {"Configured": False},
        "MaintenanceOptions": i.extras.get("MaintenanceOptions") or {"AutoRecovery": "default"},
        "CapacityReservationSpecification": i.extras.get("CapacityReservationSpecification") or {"CapacityReservationPreference": "open"},
        "CpuOptions": i.extras.get("CpuOptions"), "PrivateDnsNameOptions": i.extras.get("PrivateDnsNameOptions"),
    }  # fmt: skip
    if i.state_reason:
        out["StateReason"] = {"Code": i.state_reason[0], "Message": i.state_reason[1]}
    if i.profile_arn and held:
        out["IamInstanceProfile"] = {"Arn": i.profile_arn, "Id": i.profile_id}
    if held:
        out |= {"PrivateIpAddress": i.private_ip, "SubnetId": i.subnet_id, "VpcId": i.vpc_id}
        if i.interfaces and i.interfaces[0].public_ip:
            out["PublicIpAddress"] = i.interfaces[0].public_ip
    out["BlockDeviceMappings"] = [
        {"DeviceName": v.device, "Ebs": {"VolumeId": v.id, "Status": "attached", "AttachTime": v.created, "DeleteOnTermination": v.delete_on_termination}}
        for v in i.volumes if held
    ]  # fmt: skip
    out["NetworkInterfaces"] = [interface(n, i) for n in i.interfaces if held]
    return out


def interface(n: Any, i: Instance) -> dict[str, Any]:
    return {
        "NetworkInterfaceId": n.id, "SubnetId": n.subnet_id, "VpcId": n.vpc_id, "OwnerId": i.owner, "Status": "in-use",
        "MacAddress": n.mac, "PrivateIpAddress": n.private_ip, "PrivateDnsName": n.private_dns, "SourceDestCheck": True,
        "Groups": n.groups, "InterfaceType": n.kind, "Description": n.description,
        "PrivateIpAddresses": [{"Primary": True, "PrivateIpAddress": n.private_ip, "PrivateDnsName": n.private_dns}],
        "Attachment": {
            "AttachmentId": n.attachment_id, "DeviceIndex": n.device_index, "NetworkCardIndex": n.card_index,
            "Status": "attached", "AttachTime": n.created, **n.attach,
        },
    }  # fmt: skip


def instance_xml(i: Instance) -> Raw:
    """The instance's element, rendered at most once per change."""
    if i.xml is None:
        i.xml = writer("ec2", "Instance")(describe_one(i))
    return Raw(i.xml)


@action("ec2", "DescribeInstances")
def describe_instances(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    ids = params.get("InstanceIds")
    if params.get("DryRun"):
        raise dry_run()
    if ids and params.get("MaxResults") is not None:
        raise AwsError(
            "InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults"
        )
    found = by_ids(world, ids) if ids else list(world.ec2.instances.values())
    wanted = compile_filters(params.get("Filters"), FILTERS)
    found = [i for i in found if wanted(i)]
    some, token = (found, None) if ids else page(found, params, MOST, 5)
    reservations: dict[str, list[Instance]] = {}
    for instance in some:
        reservations.setdefault(instance.reservation_id, []).append(instance)
    return {
        "Reservations": [
            {
                "ReservationId": key,
                "OwnerId": group[0].owner,
                "Groups": [],
                "Instances": [instance_xml(i) for i in group],
            }
            for key, group in reservations.items()
        ],
        "NextToken": token,
    }


def by_ids(world: World, ids: list[str]) -> list[Instance]:
    lost = [i for i in ids if i not in world.ec2.instances]
    for bad in lost:
        if not bad.startswith("i-"):
            raise AwsError("InvalidInstanceID.Malformed", f'Invalid id: "{bad}"')
    if len(lost) == 1:
        raise not_found(lost[0])
    if lost:
        raise AwsError("InvalidInstanceID.NotFound", f"The instance IDs '{', '.join(lost)}' do not exist")
    return [world.ec2.instances[i] for i in dict.fromkeys(ids)]


STATUS_FILTERS = {
    name: FILTERS[name]
    for name in ("instance-state-name", "instance-state-code", "availability-zone", "availability-zone-id")
} | {
    "instance-status.status": lambda i: "ok",
    "system-status.status": lambda i: "ok",
    "instance-status.reachability": lambda i: "passed",
    "system-status.reachability": lambda i: "passed",
    "event.code": lambda i: [],
}


@action("ec2", "DescribeInstanceStatus")
def describe_status(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    ids = params.get("InstanceIds")
    found = by_ids(world, ids) if ids else list(world.ec2.instances.values())
    if not params.get("IncludeAllInstances"):
        found = [i for i in found if i.state == "running"]
    wanted = compile_filters(params.get("Filters"), STATUS_FILTERS)
    some, token = page([i for i in found if wanted(i)], params, MOST, 5)
    good = {"Status": "ok", "Details": [{"Name": "reachability", "Status": "passed"}]}
    none = {"Status": "not-applicable"}
    return {
        "InstanceStatuses": [
            {
                "InstanceId": i.id, "AvailabilityZone": i.zone, "InstanceState": state(i.state), "Events": [],
                "InstanceStatus": good if i.state == "running" else none, "SystemStatus": good if i.state == "running" else none,
            }
            for i in some
        ],
        "NextToken": token,
    }  # fmt: skip
