"""The public parameters that name the EKS optimized images. All other parameters are moto's."""

from __future__ import annotations

import json
from typing import Any

from .call import Call
from .ec2 import images
from .errors import AwsError
from .registry import PASS, action
from .wire import from_iso
from .world import World

OURS = ("/aws/service/eks/", "/aws/service/bottlerocket/")


def parameters(region: str) -> dict[str, tuple[str, float]]:
    """Path -> (value, last modified) of every parameter the sandbox publishes in a region."""
    out: dict[str, tuple[str, float]] = {}
    for kubernetes in images.KUBERNETES:
        for variant, arches in images.AL2023_VARIANTS.items():
            for arch in arches:
                root = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{arch}/{variant}"
                for release, stamp in images.AL2023:
                    name = images.al2023_name(kubernetes, arch, variant, release)
                    _al2023(out, f"{root}/{name}", region, name, kubernetes, release, from_iso(stamp))
                _al2023(out, f"{root}/recommended", region, name, kubernetes, release, from_iso(stamp))
        for variant in images.BOTTLEROCKET_VARIANTS:
            for arch in images.ARCHES:
                root = f"/aws/service/bottlerocket/aws-k8s-{kubernetes}{variant}/{arch}"
                for version, build, stamp in images.BOTTLEROCKET:
                    name = images.bottlerocket_name(kubernetes, arch, variant, version, build)
                    for path in (version, f"{version}-{build}", "latest"):
                        out[f"{root}/{path}/image_id"] = (images.image_id(region, name), from_iso(stamp))
                        out[f"{root}/{path}/image_version"] = (f"{version}-{build}", from_iso(stamp))
    return out


def _al2023(
    out: dict[str, tuple[str, float]], path: str, region: str, name: str, kubernetes: str, release: str, stamp: float
) -> None:
    identity = images.image_id(region, name)
    version = f"{kubernetes}.0-{release}"
    whole = {"schema_version": "2.0", "image_id": identity, "image_name": name, "release_version": version}
    out[path] = (json.dumps(whole), stamp)
    out[f"{path}/image_id"] = (identity, stamp)
    out[f"{path}/image_name"] = (name, stamp)
    out[f"{path}/release_version"] = (version, stamp)


def parameter_value(world: World, path: str) -> str:
    """The value of one of our parameters; ``InvalidParameterValue`` for another path."""
    found = world.parameters.get(path)
    if found is None:
        raise AwsError("InvalidParameterValue", f"The parameter '{path}' does not exist")
    return found[0]


def _describe(world: World, region: str, path: str) -> dict[str, Any]:
    value, stamp = world.parameters[path]
    return {
        "Name": path, "Type": "String", "Value": value, "Version": 1, "LastModifiedDate": stamp, "DataType": "text",
        "ARN": f"arn:aws:ssm:{region}::parameter{path}",
    }  # fmt: skip


@action("ssm", "GetParameter")
def get_parameter(world: World, call: Call) -> Any:
    path = _path(call.params.get("Name", ""))
    if not path.startswith(OURS):
        return PASS
    if path not in world.parameters:
        raise AwsError("ParameterNotFound", "")
    return {"Parameter": _describe(world, call.region, path)}


@action("ssm", "GetParameters")
def get_parameters(world: World, call: Call) -> Any:
    paths = [_path(n) for n in call.params.get("Names") or []]
    if not all(p.startswith(OURS) for p in paths):
        return PASS
    return {
        "Parameters": [_describe(world, call.region, p) for p in paths if p in world.parameters],
        "InvalidParameters": [p for p in paths if p not in world.parameters],
    }


@action("ssm", "GetParametersByPath")
def by_path(world: World, call: Call) -> Any:
    root = (call.params.get("Path") or "").rstrip("/") + "/"
    if not root.startswith(OURS):
        return PASS
    deep = bool(call.params.get("Recursive"))
    found = sorted(p for p in world.parameters if p.startswith(root) and (deep or "/" not in p[len(root) :]))
    start = int(call.params.get("NextToken") or 0)
    end = start + int(call.params.get("MaxResults") or 10)
    answer: dict[str, Any] = {"Parameters": [_describe(world, call.region, p) for p in found[start:end]]}
    if end < len(found):
        answer["NextToken"] = str(end)
    return answer


def _path(name: str) -> str:
    """A name may be an ARN, and may carry a version."""
    path = name.partition(":parameter")[2] if name.startswith("arn:") else name
    return path.partition(":")[0]
