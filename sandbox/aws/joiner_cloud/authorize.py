"""May this principal do this? Identity policies of roles and users are evaluated as IAM does.

``needs`` says which (action, resource, context) a call stands for; ``authorize`` evaluates them all. The
administrator may do anything; GetCallerIdentity is always allowed.
"""

from __future__ import annotations

from typing import Any

from . import ACCOUNT_ID, network, policy
from .call import Call, Principal
from .errors import AwsError
from .needs import Need, needs
from .world import World

FREE = ("sts:GetCallerIdentity", "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole")


def authorize(world: World, call: Call) -> None:
    """Raises the service's access-denied error for the first thing that is not allowed."""
    principal = call.principal
    if principal.kind in ("admin", "anonymous") or not world.settings.check_policies or call.name in FREE:
        return
    base = {
        "aws:requestedregion": call.region,
        "aws:principalarn": principal.arn,
        "aws:principalaccount": ACCOUNT_ID,
        "aws:userid": principal.user_id,
        "aws:securetransport": True,
        "aws:username": principal.name,
    }
    layers = documents(principal)
    for need in needs(world, call):
        context = {**base, **need.context}
        for layer in layers:
            verdict = _verdict(layer, need, context)
            if verdict != policy.ALLOWED:
                raise _denied(call, principal, need, verdict)


def _verdict(layer: list[str], need: Need, context: policy.Context) -> str:
    if need.resource is not None:
        return policy.evaluate(layer, need.action, need.resource, context)
    # a call whose resources are not modelled: the action and its conditions alone decide
    verdict = policy.NOT_ALLOWED
    for document in layer:
        for statement in policy.parse(document):
            if policy.applies(statement, need.action, None, context):
                if statement.get("Effect") == "Deny":
                    return policy.DENIED
                verdict = policy.ALLOWED
    return verdict


def documents(principal: Principal) -> list[list[str]]:
    """The layers of documents that must each allow: identity policies, boundary, session policy."""
    iam = network.iam()
    holders: list[Any] = []
    if principal.kind == "role":
        holders = [r for r in iam.roles.values() if r.name == principal.name]
    elif principal.kind == "user":
        holders = [u for u in iam.users.values() if u.name == principal.name]
        holders += [g for g in iam.groups.values() if principal.name in [u.name for u in g.users]]
    identity: list[str] = []
    layers = [identity]
    for holder in holders:
        inline = holder.policies
        identity += list(inline.values()) if isinstance(inline, dict) else []
        identity += [_document(p) for p in holder.managed_policies.values()]
        boundary = getattr(holder, "permissions_boundary_arn", None)
        if boundary:
            found = iam.managed_policies.get(boundary)
            layers.append([_document(found)] if found else [])
    if principal.session_policy:
        layers.append([principal.session_policy])
    return layers


def _document(managed: Any) -> str:
    for version in managed.versions:
        if version.is_default:
            return str(version.document)
    return ""


def _denied(call: Call, principal: Principal, need: Need, verdict: str) -> AwsError:
    resource = f" on resource: {need.resource}" if need.resource is not None else ""
    why = (
        "with an explicit deny in an identity-based policy"
        if verdict == policy.DENIED
        else f"because no identity-based policy allows the {need.action} action"
    )
    text = f"User: {principal.arn} is not authorized to perform: {need.action}{resource} {why}"
    if call.protocol == "ec2":
        return AwsError(
            "UnauthorizedOperation",
            f"You are not authorized to perform this operation. {text}. Encoded authorization failure message: sandbox",
            403,
        )
    return AwsError("AccessDenied" if call.protocol == "query" else "AccessDeniedException", text, 403)
