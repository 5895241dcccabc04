"""RunInstances and what happens to an instance afterwards."""

from __future__ import annotations

import json
import time
from typing import Any

from ..call import Call
from ..errors import AwsError, dry_run
from ..registry import action
from ..world import World
from .describe import by_ids, instance_xml, state
from .entities import ALIVE, Instance
from .launch import check_capacity, check_price, discard, launch
from .plan import Plan, Planner
from .store import new_id
from .templates import find, version_of

# members of RunInstances that are a launch template's data as well
SHARED = (
    "ImageId", "InstanceType", "KeyName", "UserData", "SecurityGroupIds", "NetworkInterfaces", "BlockDeviceMappings",
    "IamInstanceProfile", "MetadataOptions", "Monitoring", "Placement", "SubnetId", "PrivateIpAddress", "CpuOptions",
    "CreditSpecification", "EnclaveOptions", "HibernationOptions", "MaintenanceOptions", "PrivateDnsNameOptions",
    "CapacityReservationSpecification", "EbsOptimized", "InstanceInitiatedShutdownBehavior", "InstanceMarketOptions",
)  # fmt: skip


def run_data(world: World, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str] | None]:
    """What RunInstances is to launch: its own parameters on top of its launch template's."""
    data: dict[str, Any] = {}
    where = None
    spec = params.get("LaunchTemplate")
    if spec:
        template = find(world.ec2, spec.get("LaunchTemplateId"), spec.get("LaunchTemplateName"))
        version = version_of(template, spec.get("Version"))
        data = dict(version.data)
        where = {"id": template.id, "version": str(version.number)}
    for name in SHARED:
        if params.get(name) is not None:
            data[name] = params[name]
    if params.get("NetworkInterfaces") or data.get("NetworkInterfaces"):
        if not params.get("SecurityGroupIds"):
            data.pop("SecurityGroupIds", None)
    if params.get("SubnetId") and data.get("NetworkInterfaces"):
        data["NetworkInterfaces"] = [{**n, "SubnetId": params["SubnetId"]} for n in data["NetworkInterfaces"]]
    data["TagSpecifications"] = (data.get("TagSpecifications") or []) + (params.get("TagSpecifications") or [])
    return data, where


@action("ec2", "RunInstances")
def run_instances(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    low, high = int(params.get("MinCount") or 1), int(params.get("MaxCount") or 1)
    if not 1 <= low <= high:
        raise AwsError(
            "InvalidParameterValue", f"MinCount {low} and MaxCount {high} must satisfy 1 <= MinCount <= MaxCount"
        )
    data, where = run_data(world, params)
    market = data.get("InstanceMarketOptions") or {}
    lifecycle = "spot" if market.get("MarketType") == "spot" else None
    plan = Planner(world, call.region).plan(data, None, lifecycle)
    plan.template = where
    plan.max_price = (market.get("SpotOptions") or {}).get("MaxPrice")
    check_price(world, plan, call.region)
    if params.get("DryRun"):
        raise dry_run()
    return _once(world, call, plan, high)


def _once(world: World, call: Call, plan: Plan, count: int) -> dict[str, Any]:
    token = call.params.get("ClientToken") or ""
    shape = json.dumps({k: v for k, v in call.params.items() if k != "ClientToken"}, sort_keys=True)
    known = world.ec2.tokens.get(("RunInstances", token)) if token else None
    if known and known[0] != shape:
        raise AwsError("IdempotentParameterMismatch", "The client token was used before with other parameters")
    if known:
        made = [world.ec2.instances[i] for i in known[1]["ids"] if i in world.ec2.instances]
    else:
        check_capacity(world, plan)
        plan.client_token = token
        made = launch(world, plan, count, call.region, new_id("r"))
    if token and not known:
        world.ec2.tokens[("RunInstances", token)] = (shape, {"ids": [i.id for i in made]})
    return {
        "ReservationId": made[0].reservation_id if made else new_id("r"),
        "OwnerId": call.principal.account,
        "Groups": [],
        "Instances": [instance_xml(i) for i in made],
    }


def mark_shutting_down(world: World, instance: Instance, code: str, message: str) -> None:
    """First half of a termination: the machine stops, its disks and addresses are given back."""
    if instance.state not in ALIVE:
        return
    now = time.time()
    instance.state_reason = (code, message)
    stamp = time.strftime("%Y-%m-%d %H:%M:%S GMT", time.gmtime(now))
    instance.transition_reason = (
        f"User initiated ({stamp})" if code.startswith("Client.User") else f"Service initiated ({stamp})"
    )
    discard(world, instance, world.region_of(instance))
    if instance.spot_request_id:
        request = world.ec2.spot_requests.get(instance.spot_request_id)
        if request:
            request.state, request.status = "closed", "instance-terminated-by-user"
    world.ec2.set_state(instance, "shutting-down")
    world.ec2.later(now + world.settings.shutting_down_seconds, instance.id, "terminated")


def pick(world: World, ids: list[str]) -> list[Instance]:
    """The instances with these ids; an unknown or malformed one fails the whole request, as on EC2."""
    if not ids:
        raise AwsError("MissingParameter", "The request must contain the parameter InstanceId")
    return by_ids(world, ids)


def _change(instance: Instance, before: str) -> dict[str, Any]:
    return {"InstanceId": instance.id, "CurrentState": state(instance.state), "PreviousState": state(before)}


@action("ec2", "TerminateInstances")
def terminate(world: World, call: Call) -> dict[str, Any]:
    chosen = pick(world, call.params.get("InstanceIds") or [])
    if call.params.get("DryRun"):
        raise dry_run()
    out = []
    for instance in chosen:
        before = instance.state
        mark_shutting_down(
            world, instance, "Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"
        )
        out.append(_change(instance, before))
    return {"TerminatingInstances": out}


@action("ec2", "StopInstances")
def stop(world: World, call: Call) -> dict[str, Any]:
    chosen = pick(world, call.params.get("InstanceIds") or [])
    if call.params.get("DryRun"):
        raise dry_run()
    out = []
    for instance in chosen:
        before = instance.state
        if before not in ("running", "stopping", "stopped"):
            raise AwsError(
                "IncorrectInstanceState",
                f"This instance '{instance.id}' is not in a state from which it can be stopped.",
            )
        if before == "running":
            instance.state_reason = (
                "Client.UserInitiatedShutdown",
                "Client.UserInitiatedShutdown: User initiated shutdown",
            )
            world.ec2.set_state(instance, "stopping")
            world.ec2.later(time.time() + world.settings.shutting_down_seconds, instance.id, "stopped")
        out.append(_change(instance, before))
    return {"StoppingInstances": out}


@action("ec2", "StartInstances")
def start(world: World, call: Call) -> dict[str, Any]:
    chosen = pick(world, call.params.get("InstanceIds") or [])
    if call.params.get("DryRun"):
        raise dry_run()
    out = []
    for instance in chosen:
        before = instance.state
        if before == "stopped":
            instance.state_reason = None
            world.ec2.set_state(instance, "pending")
            world.ec2.later(time.time() + world.settings.pending_seconds, instance.id, "running")
        elif before not in ("pending", "running"):
            raise AwsError(
                "IncorrectInstanceState",
                f"The instance '{instance.id}' is not in a state from which it can be started.",
            )
        out.append(_change(instance, before))
    return {"StartingInstances": out}


@action("ec2", "RebootInstances")
def reboot(world: World, call: Call) -> dict[str, Any]:
    pick(world, call.params.get("InstanceIds") or [])
    if call.params.get("DryRun"):
        raise dry_run()
    return {}
