"""Illustrative prices, in micro-dollars per hour.

They are near what AWS charged for Linux in us-west-2 in 2025, so that decisions look as they would; they are no
price list. Spot prices are 30 to 40 % of on-demand, differ by zone, and never change: same input, same output.
"""

from __future__ import annotations

import functools
import zlib

from . import catalogue

# dollars per vCPU and hour, for families whose sizes are priced in proportion to their vCPUs
PER_VCPU = {
    "c4": 0.0498, "c5": 0.0425, "c5a": 0.0385, "c5ad": 0.043, "c5d": 0.048, "c5n": 0.054, "c6a": 0.03825,
    "c6g": 0.034, "c6gd": 0.0384, "c6gn": 0.0432, "c6i": 0.0425, "c6id": 0.0504, "c6in": 0.0567, "c7a": 0.05132,
    "c7g": 0.03625, "c7gd": 0.04535, "c7gn": 0.0624, "c7i": 0.04463, "c7i-flex": 0.0424, "c8g": 0.03988,
    "c8gd": 0.0490, "m4": 0.05, "m5": 0.048, "m5a": 0.043, "m5ad": 0.0515, "m5d": 0.0565, "m5dn": 0.068,
    "m5n": 0.0595, "m5zn": 0.0826, "m6a": 0.0432, "m6g": 0.0385, "m6gd": 0.0452, "m6i": 0.048, "m6id": 0.05933,
    "m6idn": 0.07956, "m6in": 0.06962, "m7a": 0.05796, "m7g": 0.0408, "m7gd": 0.0534, "m7i": 0.0504,
    "m7i-flex": 0.04788, "m8g": 0.04488, "r4": 0.0665, "r5": 0.063, "r5a": 0.0565, "r5ad": 0.0655, "r5b": 0.0745,
    "r5d": 0.072, "r5dn": 0.0835, "r5n": 0.0745, "r6a": 0.0567, "r6g": 0.0504, "r6gd": 0.0576, "r6i": 0.063,
    "r6id": 0.0756, "r7a": 0.07607, "r7g": 0.05355, "r7gd": 0.0681, "r7i": 0.06615, "r8g": 0.05892,
    "x1": 0.1042, "x1e": 0.2085, "x2gd": 0.0835, "i3": 0.078, "i3en": 0.113, "i4i": 0.0858, "i4g": 0.0772,
    "d3": 0.1248, "z1d": 0.093,
}  # fmt: skip
# dollars per GiB of memory and hour, for burstable families
PER_GIB = {"t1": 0.033, "t2": 0.0116, "t3": 0.0104, "t3a": 0.0094, "t4g": 0.0084}
# dollars per accelerator and hour, on top of the host
PER_ACCELERATOR = {
    "K80": 0.55, "M60": 0.55, "T4": 0.33, "T4g": 0.25, "A10G": 0.80, "L4": 0.60, "L40S": 1.40, "V100": 2.55,
    "A100": 2.10, "H100": 5.60, "H200": 6.50, "B200": 9.00, "Inferentia": 0.12, "Inferentia2": 0.55,
    "Trainium": 0.95, "Trainium2": 2.00, "B300": 10.5, "RTX PRO 4500": 0.70, "RTX PRO Server 6000": 1.60,
    "Qualcomm AI100": 0.30,
}  # fmt: skip
VCPU, GIB, NVME_GB = 0.0365, 0.0035, 0.00004
REGION = {
    "us-east-1": 1.0, "us-east-2": 1.0, "us-west-2": 1.0, "us-west-1": 1.17, "ca-central-1": 1.11, "eu-west-1": 1.11,
    "eu-central-1": 1.19, "eu-north-1": 1.06, "ap-northeast-1": 1.28, "ap-northeast-2": 1.22, "ap-south-1": 1.05,
    "ap-southeast-1": 1.24, "ap-southeast-2": 1.25,
}  # fmt: skip
ELSEWHERE = 1.15


@functools.cache
def on_demand(region: str, type_name: str) -> int:
    """Micro-dollars per hour, Linux, shared tenancy."""
    info = catalogue.types()[type_name]
    family = type_name.partition(".")[0]
    cpus = info["VCpuInfo"]["DefaultVCpus"]
    gib = info["MemoryInfo"]["SizeInMiB"] / 1024
    if family in PER_VCPU:
        dollars = PER_VCPU[family] * cpus
    elif family in PER_GIB:
        dollars = PER_GIB[family] * gib
    else:
        dollars = VCPU * cpus + GIB * gib + NVME_GB * info.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0)
        for gpu in info.get("GpuInfo", {}).get("Gpus", []):
            dollars += PER_ACCELERATOR.get(gpu.get("Name", ""), 0.9) * gpu.get("Count", 1)
        for key, inner in (("NeuronInfo", "NeuronDevices"), ("InferenceAcceleratorInfo", "Accelerators")):
            devices = info.get(key, {}).get(inner, [])
            dollars += sum(PER_ACCELERATOR.get(d.get("Name", ""), 0.5) * d.get("Count", 1) for d in devices)
            if devices:
                break
    return round(dollars * REGION.get(region, ELSEWHERE) * 1_000_000 / 100) * 100


def _share(*parts: str) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return zlib.crc32("/".join(parts).encode()) / 2**32


@functools.cache
def spot(region: str, type_name: str, zone: str) -> int:
    """Micro-dollars per hour."""
    part = 0.31 + 0.06 * _share("spot", type_name) + 0.03 * _share("zone", type_name, zone)
    return max(round(on_demand(region, type_name) * part / 100) * 100, 100)


@functools.cache
def spot_depth(type_name: str, zone: str) -> float:
    """How much spare spot capacity a pool has, from 0 to 1: what capacity-optimized strategies prefer."""
    return _share("depth", type_name, zone)


def dollars(micro: int) -> str:
    """As EC2 writes spot prices: six decimals."""
    return f"{micro // 1_000_000}.{micro % 1_000_000:06d}"
