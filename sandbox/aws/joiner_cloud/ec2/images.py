"""Machine images: the EKS optimized ones of Amazon Linux 2023 and Bottlerocket, and those that users register.

Ids depend on name and region alone, so that they are the same in each run.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

from .. import ACCOUNT_ID
from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import action
from ..wire import from_iso, iso
from ..world import World
from .entities import Image
from .filters import compile_filters, matches, page
from .store import new_id
from .tagspec import tag_list, tags_for

KUBERNETES = tuple(f"1.{minor}" for minor in range(30, 38))
ARCHES = ("x86_64", "arm64")
EKS_OWNER, BOTTLEROCKET_OWNER = "602401143452", "092701018921"
# (release, published); the newest last
AL2023 = (
    ("20260611", "2026-06-11T18:04:05Z"),
    ("20260715", "2026-07-15T18:04:05Z"),
    ("20260812", "2026-08-12T18:04:05Z"),
)
AL2023_VARIANTS = {"standard": ARCHES, "nvidia": ARCHES, "neuron": ("x86_64",)}
BOTTLEROCKET = (
    ("1.58.0", "a1b2c3d4", "2026-06-18T10:11:12Z"),
    ("1.59.0", "b2c3d4e5", "2026-07-16T10:11:12Z"),
    ("1.60.0", "c3d4e5f6", "2026-08-13T10:11:12Z"),
)
BOTTLEROCKET_VARIANTS = ("", "-nvidia")
FILTERS = {
    "name": lambda i: i.name,
    "image-id": lambda i: i.id,
    "architecture": lambda i: i.arch,
    "owner-id": lambda i: i.owner,
    "owner-alias": lambda i: i.alias,
    "description": lambda i: i.description,
    "creation-date": lambda i: iso(i.created),
    "root-device-name": lambda i: i.root_device,
    "root-device-type": lambda i: "ebs",
    "state": lambda i: "available",
    "is-public": lambda i: i.public,
    "image-type": lambda i: "machine",
    "virtualization-type": lambda i: "hvm",
    "hypervisor": lambda i: "xen",
    "ena-support": lambda i: True,
    "block-device-mapping.volume-type": lambda i: [d.get("Ebs", {}).get("VolumeType") for d in i.devices],
}


def image_id(region: str, name: str) -> str:
    return "ami-0" + hashlib.sha256(f"{region}/{name}".encode()).hexdigest()[:16]


def al2023_name(kubernetes: str, arch: str, variant: str, release: str) -> str:
    return f"amazon-eks-node-al2023-{arch}-{variant}-{kubernetes}-v{release}"


def bottlerocket_name(kubernetes: str, arch: str, variant: str, version: str, build: str) -> str:
    return f"bottlerocket-aws-k8s-{kubernetes}{variant}-{arch}-v{version}-{build}"


def _disk(device: str, size: int, region: str, name: str) -> dict[str, Any]:
    snapshot = "snap-0" + hashlib.sha256(f"{region}/{name}/{device}".encode()).hexdigest()[:16]
    ebs = {
        "DeleteOnTermination": True,
        "SnapshotId": snapshot,
        "VolumeSize": size,
        "VolumeType": "gp3",
        "Encrypted": False,
    }
    return {"DeviceName": device, "Ebs": ebs}


def published(region: str) -> list[Image]:
    """Every image that AWS publishes for EKS, as far as the sandbox knows them."""
    out = []
    for kubernetes in KUBERNETES:
        for variant, arches in AL2023_VARIANTS.items():
            for arch in arches:
                for release, stamp in AL2023:
                    name = al2023_name(kubernetes, arch, variant, release)
                    text = f"EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: {kubernetes}, containerd: 2.1.*)"
                    disks = [_disk("/dev/xvda", 20, region, name)]
                    out.append(
                        Image(
                            image_id(region, name),
                            name,
                            EKS_OWNER,
                            "amazon",
                            arch,
                            "/dev/xvda",
                            from_iso(stamp),
                            text,
                            disks,
                            "AL2023",
                            {},
                        )
                    )
        for variant in BOTTLEROCKET_VARIANTS:
            for arch in ARCHES:
                for version, build, stamp in BOTTLEROCKET:
                    name = bottlerocket_name(kubernetes, arch, variant, version, build)
                    disks = [_disk("/dev/xvda", 2, region, name), _disk("/dev/xvdb", 20, region, name)]
                    out.append(
                        Image(
                            image_id(region, name), name, BOTTLEROCKET_OWNER, "amazon", arch, "/dev/xvda", from_iso(stamp),
                            f"bottlerocket-aws-k8s-{kubernetes}{variant}", disks, "Bottlerocket", {},
                        )
                    )  # fmt: skip
    return out


def _describe(image: Image, region: str) -> dict[str, Any]:
    out = {
        "ImageId": image.id, "Name": image.name, "OwnerId": image.owner, "Architecture": image.arch, "State": "available",
        "ImageLocation": f"{image.alias or image.owner}/{image.name}", "Public": image.public, "ImageType": "machine",
        "RootDeviceName": image.root_device, "RootDeviceType": "ebs", "VirtualizationType": "hvm", "Hypervisor": "xen",
        "EnaSupport": True, "SriovNetSupport": "simple", "CreationDate": iso(image.created), "Description": image.description,
        "BlockDeviceMappings": image.devices, "ImageOwnerAlias": image.alias, "PlatformDetails": "Linux/UNIX",
        "UsageOperation": "RunInstances", "BootMode": "uefi-preferred", "ImdsSupport": "v2.0", "Tags": tag_list(image.tags),
    }  # fmt: skip
    if image.deprecated:
        out["DeprecationTime"] = iso(image.deprecated)
    return out


@action("ec2", "DescribeImages")
def describe_images(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    found = list(world.ec2.images.values())
    if ids := params.get("ImageIds"):
        for wanted_id in ids:
            if not wanted_id.startswith("ami-"):
                raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{wanted_id}" (expecting "ami-...")')
        lost = [i for i in ids if i not in world.ec2.images]
        if lost:
            raise AwsError("InvalidAMIID.NotFound", f"The image id '[{', '.join(lost)}]' does not exist")
        found = [world.ec2.images[i] for i in dict.fromkeys(ids)]
    if owners := params.get("Owners"):
        own = [call.principal.account or ACCOUNT_ID if o == "self" else o for o in owners]
        found = [i for i in found if matches([i.owner, i.alias], own)]
    if not params.get("IncludeDeprecated") and not params.get("ImageIds"):
        now = time.time()
        found = [i for i in found if not i.deprecated or i.deprecated > now or i.owner == ACCOUNT_ID]
    wanted = compile_filters(params.get("Filters"), FILTERS)
    some, token = page([i for i in found if wanted(i)], params, 1000)
    return {"Images": [_describe(i, call.region) for i in some], "NextToken": token}


@action("ec2", "RegisterImage")
def register(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    name = params.get("Name")
    if not name:
        raise missing("Name")
    if any(i.name == name and i.owner == ACCOUNT_ID for i in world.ec2.images.values()):
        raise AwsError("InvalidAMIName.Duplicate", f"AMI name {name} is already in use by this account")
    arch = params.get("Architecture", "i386")
    tags = tags_for(params.get("TagSpecifications"), "image")
    if params.get("DryRun"):
        raise dry_run()
    image = Image(
        new_id("ami"), name, ACCOUNT_ID, None, arch, params.get("RootDeviceName") or "/dev/sda1", time.time(),
        params.get("Description", ""), params.get("BlockDeviceMappings") or [], "Custom", tags, public=False,
    )  # fmt: skip
    world.ec2.images[image.id] = image
    return {"ImageId": image.id}


@action("ec2", "DeregisterImage")
def deregister(world: World, call: Call) -> dict[str, Any]:
    image = world.ec2.images.get(call.params.get("ImageId", ""))
    if image is None:
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{call.params.get('ImageId')}]' does not exist")
    if image.owner != ACCOUNT_ID:
        raise AwsError("AuthFailure", f"Not authorized for image:{image.id}", 403)
    if call.params.get("DryRun"):
        raise dry_run()
    del world.ec2.images[image.id]
    return {"Return": True}


@action("ec2", "EnableImageDeprecation", "DisableImageDeprecation")
def deprecate(world: World, call: Call) -> dict[str, Any]:
    image = world.ec2.images.get(call.params.get("ImageId", ""))
    if image is None:
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{call.params.get('ImageId')}]' does not exist")
    image.deprecated = from_iso(call.params["DeprecateAt"]) if call.params.get("DeprecateAt") else None
    return {"Return": True}
