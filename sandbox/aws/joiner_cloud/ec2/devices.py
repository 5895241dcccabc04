"""Block devices: the image's, overridden device by device by the request's."""

from __future__ import annotations

from typing import Any

from ..errors import AwsError
from .entities import Image, Volume
from .store import new_id

KINDS = ("standard", "gp2", "gp3", "io1", "io2", "st1", "sc1")
# kind -> (smallest, largest) IOPS
IOPS = {"gp3": (3000, 80000), "io1": (100, 64000), "io2": (100, 256000)}


def volumes_of(
    data: dict[str, Any],
    image: Image,
    instance_id: str = "",
    zone: str = "",
    now: float = 0.0,
    tags: dict[str, str] | None = None,
) -> list[Volume]:
    """The volumes of an instance of this image, after the checks that EC2 makes."""
    by_device: dict[str, dict[str, Any]] = {d["DeviceName"]: dict(d.get("Ebs") or {}) for d in image.devices}
    for mapping in data.get("BlockDeviceMappings") or []:
        name = mapping.get("DeviceName") or ""
        if mapping.get("NoDevice") is not None:
            by_device.pop(name, None)
        elif mapping.get("Ebs") is not None:
            by_device[name] = {**by_device.get(name, {}), **mapping["Ebs"]}
            if (
                "VolumeType" in mapping["Ebs"]
                and mapping["Ebs"]["VolumeType"] != "gp3"
                and "Throughput" not in mapping["Ebs"]
            ):
                by_device[name].pop("Throughput", None)
    out = []
    for device, ebs in by_device.items():
        kind = ebs.get("VolumeType", "gp2")
        size = ebs.get("VolumeSize", 8)
        _check(device, kind, size, ebs)
        out.append(
            Volume(
                id=new_id("vol") if instance_id else "", instance_id=instance_id, device=device, zone=zone, size=size, kind=kind,
                iops=ebs.get("Iops") or {"gp3": 3000, "gp2": min(max(100, 3 * size), 16000)}.get(kind),
                throughput=ebs.get("Throughput") or (125 if kind == "gp3" else None),
                encrypted=bool(ebs.get("Encrypted")), kms_key_id=ebs.get("KmsKeyId"), snapshot_id=ebs.get("SnapshotId"),
                delete_on_termination=ebs.get("DeleteOnTermination", True), created=now, tags=dict(tags or {}),
            )
        )  # fmt: skip
    return out


def _check(device: str, kind: str, size: int, ebs: dict[str, Any]) -> None:
    if kind not in KINDS:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({kind}) for parameter volumeType of {device} is invalid; one of {', '.join(KINDS)} is expected",
        )
    if size < 1:
        raise AwsError(
            "InvalidParameterValue", f"Volume of {size}GiB for {device} is too small; at least 1 GiB is expected"
        )
    iops, throughput = ebs.get("Iops"), ebs.get("Throughput")
    if kind in ("io1", "io2") and iops is None:
        raise AwsError("MissingParameter", f"The parameter iops must be specified for {kind} volumes ({device})")
    if iops is not None:
        if kind not in IOPS:
            raise AwsError(
                "InvalidParameterCombination", f"The parameter iops is not supported for {kind} volumes ({device})"
            )
        low, high = IOPS[kind]
        if not low <= iops <= high:
            raise AwsError(
                "InvalidParameterValue", f"Volume iops of {iops} for {device} is not between {low} and {high}"
            )
        if kind == "gp3" and iops > 500 * size and iops > 3000:
            raise AwsError(
                "InvalidParameterValue",
                f"Iops to volume size ratio of {iops / size:.6f} is too high; maximum is 500 ({device})",
            )
    if throughput is not None:
        if kind != "gp3":
            raise AwsError(
                "InvalidParameterCombination",
                f"The parameter throughput is not supported for {kind} volumes ({device})",
            )
        if not 125 <= throughput <= 2000:
            raise AwsError(
                "InvalidParameterValue", f"Throughput of {throughput} MiBps for {device} is not between 125 and 2000"
            )
        if throughput > 0.25 * (iops or 3000):
            raise AwsError(
                "InvalidParameterValue",
                f"Throughput (MiBps) to iops ratio of {throughput / (iops or 3000):.6f} is too high; maximum is 0.250000 MiBps per iops ({device})",
            )
