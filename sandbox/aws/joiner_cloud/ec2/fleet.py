"""CreateFleet of type instant, with price and capacity logic and one error per pool that failed.

A pool is one override applied to one launch template. Pools are tried in the order that the allocation strategy
gives, and the answer lists every pool tried in vain, as AWS's does.
"""

from __future__ import annotations

import json
import time
from typing import Any

from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import action
from ..world import World
from .entities import Fleet, Instance
from .instances import mark_shutting_down
from .launch import check_capacity, check_price, launch
from .plan import Plan, Planner
from .store import new_id
from .strategy import ON_DEMAND, SPOT, order
from .tagspec import tag_list, tags_for
from .templates import find, version_of

MOST_OVERRIDES = 300
CARRIED = ("InstanceType", "MaxPrice", "SubnetId", "AvailabilityZone", "WeightedCapacity", "Priority", "ImageId")


class Pool:
    """One candidate: where its parameters come from, its place in the order, and its plan or its error."""

    def __init__(
        self, config: dict[str, Any], template: dict[str, str], data: dict[str, Any], override: dict[str, Any]
    ) -> None:
        self.config, self.template, self.data, self.override = config, template, data, override
        self.plan: Plan | None = None
        self.error: AwsError | None = None

    @property
    def type(self) -> str:
        return self.override.get("InstanceType") or self.data.get("InstanceType") or ""

    def described(self, zone: str | None) -> dict[str, Any]:
        carried = {k: self.override[k] for k in CARRIED if self.override.get(k) is not None}
        carried.setdefault("InstanceType", self.type)
        if zone and "AvailabilityZone" not in carried:
            carried["AvailabilityZone"] = zone
        spec = {"LaunchTemplateId": self.template["id"], "Version": self.template["version"]}
        return {"LaunchTemplateSpecification": spec, "Overrides": carried}


@action("ec2", "CreateFleet")
def create_fleet(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    kind = params.get("Type", "maintain")
    if kind != "instant":
        raise AwsError("UnsupportedOperation", f"The sandbox knows fleets of type 'instant' only, not '{kind}'")
    pools = _pools(world, params)
    on_demand, spot = _targets(params)
    if params.get("DryRun"):
        raise dry_run()
    token = params.get("ClientToken")
    if token:
        shape = json.dumps({k: v for k, v in params.items() if k != "ClientToken"}, sort_keys=True)
        known = world.ec2.tokens.get(("CreateFleet", token))
        if known:
            if known[0] != shape:
                raise AwsError("IdempotentParameterMismatch", "The client token was used before with other parameters")
            return known[1]
    fleet = Fleet(new_id("fleet"), time.time(), params, [], [], tags_for(params.get("TagSpecifications"), "fleet"))
    reservation = new_id("r")
    for capacity_type, wanted, options_name in (
        (ON_DEMAND, on_demand, "OnDemandOptions"),
        (SPOT, spot, "SpotOptions"),
    ):
        if wanted > 0:
            _fulfil(world, call, fleet, pools, capacity_type, wanted, params.get(options_name) or {}, reservation)
    world.ec2.fleets[fleet.id] = fleet
    result = {"FleetId": fleet.id, "Instances": fleet.instances, "Errors": fleet.errors}
    if token:
        world.ec2.tokens[("CreateFleet", token)] = (shape, result)
    return result


def _targets(params: dict[str, Any]) -> tuple[int, int]:
    """(on-demand, spot) capacity asked for."""
    spec = params.get("TargetCapacitySpecification")
    if not spec or spec.get("TotalTargetCapacity") is None:
        raise missing("TargetCapacitySpecification.TotalTargetCapacity")
    total = spec["TotalTargetCapacity"]
    if total < 1:
        raise AwsError("InvalidParameterValue", f"TotalTargetCapacity must be at least 1, not {total}")
    on_demand, spot = spec.get("OnDemandTargetCapacity"), spec.get("SpotTargetCapacity")
    rest = total - (on_demand or 0) - (spot or 0)
    if rest < 0:
        raise AwsError(
            "InvalidParameterValue", "OnDemandTargetCapacity and SpotTargetCapacity exceed TotalTargetCapacity"
        )
    default = spec.get("DefaultTargetCapacityType", "on-demand")
    if default == "spot":
        return on_demand or 0, (spot or 0) + rest
    return (on_demand or 0) + rest, spot or 0


def _pools(world: World, params: dict[str, Any]) -> list[Pool]:
    configs = params.get("LaunchTemplateConfigs") or []
    if not configs:
        raise missing("LaunchTemplateConfigs")
    out = []
    for config in configs:
        spec = config.get("LaunchTemplateSpecification") or {}
        template = find(world.ec2, spec.get("LaunchTemplateId"), spec.get("LaunchTemplateName"))
        version = version_of(template, spec.get("Version"))
        where = {"id": template.id, "version": str(version.number)}
        for override in config.get("Overrides") or [{}]:
            if "InstanceRequirements" in override or "InstanceRequirements" in version.data:
                raise AwsError(
                    "UnsupportedOperation",
                    "The sandbox does not choose instance types by InstanceRequirements; list them in Overrides",
                )
            out.append(Pool(config, where, version.data, override))
    if len(out) > MOST_OVERRIDES:
        raise AwsError("InvalidParameterValue", f"{len(out)} overrides are more than the {MOST_OVERRIDES} allowed")
    return out


def _merged(pool: Pool, params: dict[str, Any]) -> dict[str, Any]:
    """The template's data with the override's and the fleet's own settings on top."""
    data = dict(pool.data)
    override = pool.override
    for name in ("InstanceType", "ImageId"):
        if override.get(name):
            data[name] = override[name]
    if override.get("SubnetId"):
        data["SubnetId"] = override["SubnetId"]
        data["NetworkInterfaces"] = [
            {**n, "SubnetId": override["SubnetId"]} for n in data.get("NetworkInterfaces") or []
        ]
    if override.get("BlockDeviceMappings"):
        data["BlockDeviceMappings"] = override["BlockDeviceMappings"]
    if override.get("Placement"):
        data["Placement"] = {**(data.get("Placement") or {}), **override["Placement"]}
    data["TagSpecifications"] = (data.get("TagSpecifications") or []) + (params.get("TagSpecifications") or [])
    return data


def _fulfil(
    world: World,
    call: Call,
    fleet: Fleet,
    pools: list[Pool],
    capacity_type: str,
    wanted: int,
    options: dict[str, Any],
    reservation: str,
) -> None:
    lifecycle = "spot" if capacity_type == SPOT else None
    planner = Planner(world, call.region)
    candidates = []
    for pool in pools:
        try:
            pool.plan, pool.error = _plan(planner, call, pool, lifecycle, fleet.id), None
        except AwsError as error:
            pool.plan, pool.error = None, error
        candidates.append(pool)
    ranked = order(capacity_type, options.get("AllocationStrategy"), call.region, candidates)
    if options.get("SingleInstanceType") or options.get("SingleAvailabilityZone"):
        ranked = _narrowed(ranked, options)
    launched: list[Instance] = []
    left = wanted
    rotate = options.get("AllocationStrategy") == "diversified"
    while left > 0 and ranked:
        pool = ranked.pop(0)
        weight = max(int(pool.override.get("WeightedCapacity") or 1), 1)
        count = 1 if rotate else -(-left // weight)
        try:
            if pool.error or pool.plan is None:
                raise pool.error or AwsError("InternalError", "no plan")
            check_capacity(world, pool.plan)
            made = launch(world, pool.plan, count, call.region, reservation, len(launched))
        except AwsError as error:
            zone = pool.plan.zone if pool.plan else None
            fleet.errors.append(
                {
                    "LaunchTemplateAndOverrides": pool.described(zone),
                    "Lifecycle": capacity_type,
                    "ErrorCode": error.code,
                    "ErrorMessage": error.message,
                }
            )
            continue
        launched += made
        left -= count * weight
        _note(fleet, pool, capacity_type, [i.id for i in made])
        if rotate:
            ranked.append(pool)
    if launched and wanted - left < (options.get("MinTargetCapacity") or 0):
        for instance in launched:
            mark_shutting_down(
                world, instance, "Server.SpotInstanceShutdown", "The fleet's minimum target capacity was not reached"
            )
        fleet.instances.clear()


def _note(fleet: Fleet, pool: Pool, capacity_type: str, ids: list[str]) -> None:
    described = pool.described(pool.plan.zone if pool.plan else None)
    for entry in fleet.instances:
        if entry["LaunchTemplateAndOverrides"] == described and entry["Lifecycle"] == capacity_type:
            entry["InstanceIds"] += ids
            return
    fleet.instances.append(
        {
            "LaunchTemplateAndOverrides": described,
            "Lifecycle": capacity_type,
            "InstanceIds": ids,
            "InstanceType": pool.type,
        }
    )


def _plan(planner: Planner, call: Call, pool: Pool, lifecycle: str | None, fleet_id: str) -> Plan:
    data = _merged(pool, call.params)
    plan = planner.plan(data, pool.override.get("AvailabilityZone"), lifecycle)
    plan.template, plan.fleet_id = pool.template, fleet_id
    plan.max_price = pool.override.get("MaxPrice")
    check_price(planner.world, plan, call.region)
    return plan


def _narrowed(ranked: list[Pool], options: dict[str, Any]) -> list[Pool]:
    first = next((p for p in ranked if p.plan), None)
    if first is None or first.plan is None:
        return ranked
    return [
        p
        for p in ranked
        if p.plan
        and (not options.get("SingleInstanceType") or p.type == first.type)
        and (not options.get("SingleAvailabilityZone") or p.plan.zone == first.plan.zone)
    ]


@action("ec2", "DescribeFleets")
def describe_fleets(world: World, call: Call) -> dict[str, Any]:
    wanted = call.params.get("FleetIds") or list(world.ec2.fleets)
    out = []
    for fleet_id in wanted:
        fleet = world.ec2.fleets.get(fleet_id)
        if fleet is None:
            raise AwsError("InvalidFleetId.NotFound", f"The fleet ID '{fleet_id}' does not exist")
        out.append(
            {
                "FleetId": fleet.id, "FleetState": fleet.state, "CreateTime": fleet.created, "Type": "instant",
                "Instances": fleet.instances, "Errors": fleet.errors, "Tags": tag_list(fleet.tags),
                "TargetCapacitySpecification": fleet.request.get("TargetCapacitySpecification"),
                "LaunchTemplateConfigs": fleet.request.get("LaunchTemplateConfigs"),
            }
        )  # fmt: skip
    return {"Fleets": out}


@action("ec2", "DeleteFleets")
def delete_fleets(world: World, call: Call) -> dict[str, Any]:
    done, failed = [], []
    for fleet_id in call.params.get("FleetIds") or []:
        fleet = world.ec2.fleets.get(fleet_id)
        if fleet is None:
            failed.append(
                {
                    "FleetId": fleet_id,
                    "Error": {"Code": "fleetIdDoesNotExist", "Message": f"The fleet ID '{fleet_id}' does not exist"},
                }
            )
            continue
        previous, fleet.state = (
            fleet.state,
            "deleted_terminating" if call.params.get("TerminateInstances") else "deleted",
        )
        for instance in [i for i in world.ec2.instances.values() if i.fleet_id == fleet_id]:
            if call.params.get("TerminateInstances"):
                mark_shutting_down(
                    world,
                    instance,
                    "Client.UserInitiatedShutdown",
                    "Client.UserInitiatedShutdown: User initiated shutdown",
                )
        done.append({"FleetId": fleet_id, "PreviousFleetState": previous, "CurrentFleetState": fleet.state})
    return {"SuccessfulFleetDeletions": done, "UnsuccessfulFleetDeletions": failed}
