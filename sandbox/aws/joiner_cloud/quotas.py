"""Service Quotas: the vCPUs of EC2 that the account may run. They are told, not enforced.

``POST /_sandbox/quotas`` sets one, as an increase or a new account would.
"""

from __future__ import annotations

from typing import Any

from .call import Call
from .errors import AwsError
from .registry import PASS, action
from .world import World

STANDARD = "Standard (A, C, D, H, I, M, R, T, Z)"
# code -> (name, value): what no configuration of a sandbox comes near
NAMES = {
    "L-1216C47A": f"Running On-Demand {STANDARD} instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-417A185B": "Running On-Demand P instances",
    "L-1945791B": "Running On-Demand Inf instances",
    "L-2C3B7624": "Running On-Demand Trn instances",
    "L-7295265B": "Running On-Demand X instances",
    "L-74FC7D96": "Running On-Demand F instances",
    "L-6E869C2A": "Running On-Demand DL instances",
    "L-F7808C92": "Running On-Demand HPC instances",
    "L-43DA4232": "Running On-Demand High Memory instances",
    "L-34B43A08": f"All {STANDARD} Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-C4BD4855": "All P5 Spot Instance Requests",
    "L-B5D1601B": "All Inf Spot Instance Requests",
    "L-6B0D517C": "All Trn Spot Instance Requests",
    "L-E3A00192": "All X Spot Instance Requests",
    "L-88CF9481": "All F Spot Instance Requests",
    "L-85EED4F7": "All DL Spot Instance Requests",
}
PLENTY = 100_000.0


def _describe(world: World, region: str, code: str) -> dict[str, Any]:
    return {
        "ServiceCode": "ec2", "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)", "QuotaCode": code,
        "QuotaArn": f"arn:aws:servicequotas:{region}:{world.account}:ec2/{code}", "QuotaName": NAMES[code],
        "Value": world.quotas.get(code, PLENTY), "Unit": "None", "Adjustable": True, "GlobalQuota": False,
    }  # fmt: skip


@action("servicequotas", "GetServiceQuota")
def get(world: World, call: Call) -> Any:
    if call.params.get("ServiceCode") != "ec2":
        return PASS
    code = call.params.get("QuotaCode") or ""
    if code not in NAMES:
        raise AwsError("NoSuchResourceException", f"The quota '{code}' does not exist", 400)
    return {"Quota": _describe(world, call.region, code)}


@action("servicequotas", "ListServiceQuotas")
def list_all(world: World, call: Call) -> Any:
    if call.params.get("ServiceCode") != "ec2":
        return PASS
    return {"Quotas": [_describe(world, call.region, code) for code in sorted(NAMES)]}


def change(world: World, body: Any) -> dict[str, Any]:
    """``{"code", "value"}``: the quota's value from now on."""
    body = body or {}
    code = body.get("code") or ""
    if code not in NAMES:
        raise AwsError("InvalidQuota", f"'{code}' is no quota's code; there are {', '.join(sorted(NAMES))}")
    world.quotas[code] = float(body.get("value", PLENTY))
    return {"code": code, "value": world.quotas[code]}
