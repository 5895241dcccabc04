"""Permissions of EC2's calls. A launch needs its action on every resource that it uses or makes.

CreateFleet needs both ``ec2:CreateFleet`` and ``ec2:RunInstances`` on them, ``ec2:CreateTags`` on what it tags, and
``iam:PassRole`` for the instance profile's role.
"""

from __future__ import annotations

from typing import Any

from .. import ACCOUNT_ID, network
from ..call import Call
from ..errors import AwsError
from ..needs import Need, pass_role, request_tags, resource_tags
from ..policy import Context
from ..world import World
from .instances import run_data
from .reservations import target
from .tagspec import tag_dict, tags_for
from .templates import find, version_of

KINDS = {
    "i": "instance", "vol": "volume", "eni": "network-interface", "lt": "launch-template", "ami": "image", "fleet": "fleet",
    "sir": "spot-instances-request", "subnet": "subnet", "sg": "security-group", "vpc": "vpc", "snap": "snapshot",
    "cr": "capacity-reservation", "pg": "placement-group",
}  # fmt: skip
ONE_TEMPLATE = (
    "DeleteLaunchTemplate", "CreateLaunchTemplateVersion", "ModifyLaunchTemplate", "DeleteLaunchTemplateVersions",
)  # fmt: skip
MANY_INSTANCES = ("TerminateInstances", "StopInstances", "StartInstances", "RebootInstances")


def arn(region: str, kind: str, identity: str = "*") -> str:
    account = "" if kind in ("image", "snapshot") else ACCOUNT_ID
    return f"arn:aws:ec2:{region}:{account}:{kind}/{identity}"


def ec2_needs(world: World, call: Call) -> list[Need]:
    name = call.action
    if name == "CreateFleet":
        return _fleet(world, call)
    if name == "RunInstances":
        data, _ = run_data(world, call.params)
        templates = [call.params["LaunchTemplate"]] if call.params.get("LaunchTemplate") else []
        market = (data.get("InstanceMarketOptions") or {}).get("MarketType")
        return _launch(world, call, [data], templates, ["ec2:RunInstances"], market == "spot")
    if name == "CreateLaunchTemplate":
        tags = tags_for(call.params.get("TagSpecifications"), "launch-template")
        return _made(call, [call.name], "launch-template", tags)
    if name in ONE_TEMPLATE:
        return [_template_need(world, call, call.name, call.params)]
    if name in MANY_INSTANCES:
        return [_existing(world, call, call.name, i, {}) for i in call.params.get("InstanceIds") or []]
    if name in ("CreateTags", "DeleteTags"):
        tags = (
            tag_dict(call.params.get("Tags"))
            if name == "CreateTags"
            else {t.get("Key", ""): t.get("Value", "") for t in call.params.get("Tags") or []}
        )
        return [_existing(world, call, call.name, i, request_tags(tags)) for i in call.params.get("Resources") or []]
    if name.startswith("Describe"):
        return [Need(call.name, "*")]
    return [Need(call.name, None)]


def _existing(world: World, call: Call, action: str, identity: str, more: Context) -> Need:
    kind = KINDS.get(identity.partition("-")[0], identity.partition("-")[0])
    return Need(
        action, arn(call.region, kind, identity), {**resource_tags(_tags(world, call.region, identity), "ec2"), **more}
    )


def _tags(world: World, region: str, identity: str) -> dict[str, str]:
    record = world.ec2.tagged(identity)
    if record is not None:
        return dict(record.tags)
    return {t["key"]: t["value"] for t in network.ec2(region).describe_tags(filters={"resource-id": [identity]})}


def _template_need(world: World, call: Call, action: str, spec: dict[str, Any]) -> Need:
    try:
        template = find(world.ec2, spec.get("LaunchTemplateId"), spec.get("LaunchTemplateName"))
    except AwsError:
        return Need(action, arn(call.region, "launch-template"))
    return Need(action, arn(call.region, "launch-template", template.id), resource_tags(template.tags, "ec2"))


def _made(call: Call, actions: list[str], kind: str, tags: dict[str, str]) -> list[Need]:
    """A resource that the call makes: the actions on it, and CreateTags when it gets tags."""
    resource, context = arn(call.region, kind), request_tags(tags)
    out = [Need(a, resource, context) for a in actions]
    if tags:
        out.append(Need("ec2:CreateTags", resource, {**context, "ec2:createaction": call.action}))
    return out


def _fleet(world: World, call: Call) -> list[Need]:
    params = call.params
    datas: list[dict[str, Any]] = []
    templates = []
    for config in params.get("LaunchTemplateConfigs") or []:
        spec = config.get("LaunchTemplateSpecification") or {}
        templates.append(spec)
        template = find(world.ec2, spec.get("LaunchTemplateId"), spec.get("LaunchTemplateName"))
        base = version_of(template, spec.get("Version")).data
        specs = (base.get("TagSpecifications") or []) + (params.get("TagSpecifications") or [])
        for override in config.get("Overrides") or [{}]:
            datas.append(
                {
                    **base,
                    **{k: v for k, v in override.items() if k in ("ImageId", "SubnetId")},
                    "TagSpecifications": specs,
                }
            )
    spot = (params.get("TargetCapacitySpecification") or {}).get("DefaultTargetCapacityType") == "spot"
    actions = ["ec2:RunInstances", "ec2:CreateFleet"]
    fleet_tags = tags_for(params.get("TagSpecifications"), "fleet")
    return _made(call, ["ec2:CreateFleet"], "fleet", fleet_tags) + _launch(world, call, datas, templates, actions, spot)


def _launch(
    world: World,
    call: Call,
    datas: list[dict[str, Any]],
    templates: list[dict[str, Any]],
    actions: list[str],
    spot: bool,
) -> list[Need]:
    out: list[Need] = []
    for spec in templates:
        out += [_template_need(world, call, a, spec) for a in actions]
    used: dict[str, None] = {}
    roles: dict[str, None] = {}
    profiles: dict[tuple[str | None, str | None], None] = {}
    for data in datas:
        if str(data.get("ImageId", "")).startswith("ami-"):
            used[data["ImageId"]] = None
        interfaces = data.get("NetworkInterfaces") or []
        for identity in [
            target(data),
            (data.get("Placement") or {}).get("GroupId"),
            data.get("SubnetId"),
            *(data.get("SecurityGroupIds") or []),
            *(n.get("SubnetId") for n in interfaces),
        ]:
            if identity:
                used[identity] = None
        for entry in interfaces:
            used.update(dict.fromkeys(entry.get("Groups") or []))
        profile = data.get("IamInstanceProfile") or {}
        profiles[(profile.get("Name"), profile.get("Arn"))] = None
    for name, profile_arn in profiles:
        for known in network.iam().instance_profiles.values():
            if known.name == name or known.arn == profile_arn:
                roles.update(dict.fromkeys(r.name for r in known.roles))
    for identity in used:
        out += [_existing(world, call, a, identity, {}) for a in actions]
    specs = datas[0].get("TagSpecifications") if datas else []
    for kind in ("instance", "volume", "network-interface", *(["spot-instances-request"] if spot else [])):
        out += _made(call, actions, kind, tags_for(specs, kind))
    out += [pass_role(role) for role in roles]
    return out
