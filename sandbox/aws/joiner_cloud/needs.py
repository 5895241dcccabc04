"""Which permissions a call needs: the Service Authorization Reference, as far as the sandbox is used.

EC2's launches are in ``ec2.needs``. A call that is not modelled needs its own action on any resource.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from . import ACCOUNT_ID, network
from .call import Call
from .policy import Context
from .world import World


@dataclasses.dataclass
class Need:
    """``resource`` is an ARN, ``*`` for calls without one, None when the sandbox does not model it."""

    action: str
    resource: str | None
    context: Context = dataclasses.field(default_factory=dict)


def request_tags(tags: dict[str, str]) -> Context:
    context: Context = {f"aws:requesttag/{k.lower()}": v for k, v in tags.items()}
    context["aws:tagkeys"] = list(tags)
    return context


def resource_tags(tags: dict[str, str], *prefixes: str) -> Context:
    return {f"{p}:resourcetag/{k.lower()}": v for k, v in tags.items() for p in ("aws", *prefixes)}


def needs(world: World, call: Call) -> list[Need]:
    found = BY_SERVICE.get(call.service)
    return found(world, call) if found else [Need(call.name, None)]


def _ec2(world: World, call: Call) -> list[Need]:
    from .ec2.needs import ec2_needs

    return ec2_needs(world, call)


def _pairs(rows: Any) -> dict[str, str]:
    if isinstance(rows, dict):
        rows = rows.values()
    return {t.get("Key", ""): t.get("Value", "") for t in rows or []}


def _iam(world: World, call: Call) -> list[Need]:
    params, iam = call.params, network.iam()
    own = Need(call.name, "*")
    out = [own]
    if name := params.get("InstanceProfileName"):
        profile = iam.instance_profiles.get(name)
        path = profile.path if profile else params.get("Path", "/")
        own.resource = f"arn:aws:iam::{ACCOUNT_ID}:instance-profile{path}{name}"
        if profile:
            own.context |= resource_tags(_pairs(profile.tags), "iam")
        if call.action == "AddRoleToInstanceProfile":
            out.append(pass_role(params.get("RoleName", "")))
    elif call.action == "ListInstanceProfiles":
        own.resource = f"arn:aws:iam::{ACCOUNT_ID}:instance-profile{params.get('PathPrefix') or '/'}"
    elif name := params.get("RoleName"):
        role = next((r for r in iam.roles.values() if r.name == name), None)
        own.resource = role.arn if role else f"arn:aws:iam::{ACCOUNT_ID}:role{params.get('Path', '/')}{name}"
        if role:
            own.context |= resource_tags(_pairs(role.tags), "iam")
        if params.get("PolicyArn"):
            own.context["iam:policyarn"] = params["PolicyArn"]
        if params.get("PermissionsBoundary"):
            own.context["iam:permissionsboundary"] = params["PermissionsBoundary"]
    elif params.get("PolicyArn"):
        own.resource = params["PolicyArn"]
    elif params.get("PolicyName"):
        own.resource = f"arn:aws:iam::{ACCOUNT_ID}:policy{params.get('Path', '/')}{params['PolicyName']}"
    elif params.get("OpenIDConnectProviderArn"):
        own.resource = params["OpenIDConnectProviderArn"]
    elif params.get("UserName"):
        own.resource = f"arn:aws:iam::{ACCOUNT_ID}:user{params.get('Path', '/')}{params['UserName']}"
    if params.get("Tags"):
        own.context |= request_tags(_pairs(params["Tags"]))
    return out


def pass_role(role_name: str) -> Need:
    """PassRole of a role to EC2."""
    role = next((r for r in network.iam().roles.values() if r.name == role_name), None)
    arn = role.arn if role else f"arn:aws:iam::{ACCOUNT_ID}:role/{role_name}"
    return Need("iam:PassRole", arn, {"iam:passedtoservice": "ec2.amazonaws.com"})


def _sqs(world: World, call: Call) -> list[Need]:
    name = call.params.get("QueueName") or (call.params.get("QueueUrl") or "").rpartition("/")[2]
    return [Need(call.name, f"arn:aws:sqs:{call.region}:{ACCOUNT_ID}:{name}" if name else "*")]


def _ssm(world: World, call: Call) -> list[Need]:
    names = call.params.get("Names") or [call.params.get("Name") or call.params.get("Path")]
    out = []
    for name in names:
        if not name:
            return [Need(call.name, None)]
        account = "" if name.startswith("/aws/service/") else ACCOUNT_ID
        arn = name if name.startswith("arn:") else f"arn:aws:ssm:{call.region}:{account}:parameter/{name.lstrip('/')}"
        out.append(Need(call.name, arn))
    return out


def _eks(world: World, call: Call) -> list[Need]:
    name = call.params.get("name")
    if not name:
        return [Need(call.name, "*" if call.action == "ListClusters" else None)]
    cluster = world.clusters.get(name)
    arn = f"arn:aws:eks:{call.region}:{ACCOUNT_ID}:cluster/{name}"
    context = resource_tags(cluster.tags) if cluster else {}
    if principal := call.params.get("principal"):
        arn = f"arn:aws:eks:{call.region}:{ACCOUNT_ID}:access-entry/{name}/role/{ACCOUNT_ID}/{principal.rpartition('/')[2]}/id"
    return [Need(call.name, arn, context)]


def _events(world: World, call: Call) -> list[Need]:
    name = call.params.get("Name") or call.params.get("Rule")
    return [Need(call.name, f"arn:aws:events:{call.region}:{ACCOUNT_ID}:rule/{name}" if name else None)]


BY_SERVICE: dict[str, Callable[[World, Call], list[Need]]] = {
    "ec2": _ec2,
    "iam": _iam,
    "sqs": _sqs,
    "ssm": _ssm,
    "eks": _eks,
    "events": _events,
    "pricing": lambda world, call: [Need(call.name, "*")],
}
