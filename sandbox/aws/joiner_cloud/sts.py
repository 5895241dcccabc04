"""STS: who am I, and roles assumed with checks that AWS makes and moto does not."""

from __future__ import annotations

import re
import time
from typing import Any

from . import ACCOUNT_ID, jwt, network, policy
from .call import Call, Principal
from .errors import AwsError, missing
from .registry import action
from .world import World

SESSION = re.compile(r"[\w+=,.@-]{2,64}")


@action("sts", "GetCallerIdentity")
def get_caller_identity(world: World, call: Call) -> dict[str, Any]:
    p = call.principal
    return {"UserId": p.user_id, "Account": p.account, "Arn": p.arn}


def role_of(arn: str) -> Any:
    for role in network.iam().roles.values():
        if role.arn == arn:
            return role
    return None


def session(world: World, call: Call, role: Any, name: str) -> dict[str, Any]:
    params = call.params
    if not SESSION.fullmatch(name):
        raise AwsError("ValidationError", f"'{name}' is no role session name: 2 to 64 of [\\w+=,.@-] are expected")
    seconds = int(params.get("DurationSeconds") or 3600)
    longest = int(role.max_session_duration or 3600)
    if not 900 <= seconds <= max(longest, 3600):
        raise AwsError(
            "ValidationError",
            f"The requested DurationSeconds {seconds} exceeds the MaxSessionDuration set for this role ({longest}); at least 900 are expected",
        )
    arn = f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/{role.name}/{name}"
    principal = Principal("role", arn, ACCOUNT_ID, f"{role.id}:{name}", role.name, params.get("Policy"))
    key = world.keys.issue(principal, time.time() + seconds)
    return {
        "Credentials": {
            "AccessKeyId": key.id, "SecretAccessKey": key.secret, "SessionToken": key.token, "Expiration": key.expires,
        },
        "AssumedRoleUser": {"AssumedRoleId": principal.user_id, "Arn": arn},
        "PackedPolicySize": 0,
    }  # fmt: skip


def trusts(role: Any, action_name: str, kind: str, names: list[str], context: policy.Context) -> bool:
    """Whether the role's trust policy lets these principals assume it in this context."""
    allowed = False
    for statement in policy.parse(role.assume_role_policy_document or ""):
        if policy.principal_matches(statement, kind, names) and policy.applies(statement, action_name, None, context):
            if statement.get("Effect") == "Deny":
                return False
            allowed = True
    return allowed


@action("sts", "AssumeRoleWithWebIdentity")
def with_web_identity(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    for name in ("RoleArn", "RoleSessionName", "WebIdentityToken"):
        if not params.get(name):
            raise missing(name)
    _, body = jwt.claims(params["WebIdentityToken"])
    issuer = str(body.get("iss") or "").rstrip("/")
    provider_name = issuer.removeprefix("https://")
    provider_arn = f"arn:aws:iam::{ACCOUNT_ID}:oidc-provider/{provider_name}"
    provider = network.iam().open_id_providers.get(provider_arn)
    if provider is None:
        raise AwsError("InvalidIdentityToken", f"No OpenIDConnect provider found in your account for {issuer}")
    jwks = world.issuers.get(issuer)
    if jwks is None:
        raise AwsError(
            "InvalidIdentityToken",
            f"Couldn't retrieve verification key from your identity provider: the sandbox knows no keys of {issuer}",
        )
    body = jwt.verify(params["WebIdentityToken"], jwks, time.time())
    audiences = body.get("aud")
    audiences = audiences if isinstance(audiences, list) else [audiences]
    if not set(audiences) & set(provider.client_id_list):
        raise AwsError(
            "InvalidIdentityToken",
            f"Incorrect token audience: {', '.join(map(str, audiences))}; the provider accepts {', '.join(provider.client_id_list)}",
        )
    refused = AwsError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", 403)
    role = role_of(params["RoleArn"])
    if role is None:
        raise refused
    subject = str(body.get("sub") or "")
    context: policy.Context = {f"{provider_name}:sub".lower(): subject, f"{provider_name}:aud".lower(): audiences}
    if not trusts(role, "sts:AssumeRoleWithWebIdentity", "Federated", [provider_arn], context):
        raise refused
    answer = session(world, call, role, params["RoleSessionName"])
    return {**answer, "SubjectFromWebIdentityToken": subject, "Audience": str(audiences[0]), "Provider": provider_arn}


@action("sts", "AssumeRole")
def assume_role(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    for name in ("RoleArn", "RoleSessionName"):
        if not params.get(name):
            raise missing(name)
    role = role_of(params["RoleArn"])
    p = call.principal
    names = [p.arn, ACCOUNT_ID, f"arn:aws:iam::{ACCOUNT_ID}:root"]
    if p.kind == "role":
        caller = network.iam().get_role(p.name)
        names.append(caller.arn)
    context: policy.Context = {"aws:principalarn": p.arn}
    if params.get("ExternalId"):
        context["sts:externalid"] = params["ExternalId"]
    if role is None or not trusts(role, "sts:AssumeRole", "AWS", names, context):
        raise AwsError(
            "AccessDenied",
            f"User: {p.arn} is not authorized to perform: sts:AssumeRole on resource: {params['RoleArn']}",
            403,
        )
    return session(world, call, role, params["RoleSessionName"])


@action("sts", "GetSessionToken")
def session_token(world: World, call: Call) -> dict[str, Any]:
    key = world.keys.issue(call.principal, time.time() + int(call.params.get("DurationSeconds") or 43200))
    return {
        "Credentials": {
            "AccessKeyId": key.id,
            "SecretAccessKey": key.secret,
            "SessionToken": key.token,
            "Expiration": key.expires,
        }
    }
