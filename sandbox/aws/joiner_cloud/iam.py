"""IAM calls that moto gets wrong or lacks; all others are moto's."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from . import network
from .call import Call
from .errors import AwsError
from .registry import action
from .world import World

MOST = 100


def role_shape(role: Any) -> dict[str, Any]:
    return {
        "Path": role.path, "RoleName": role.name, "RoleId": role.id, "Arn": role.arn,
        "CreateDate": role.create_date.timestamp(), "AssumeRolePolicyDocument": quote(role.assume_role_policy_document or ""),
    }  # fmt: skip


def profile_shape(profile: Any, tags: bool) -> dict[str, Any]:
    out = {
        "Path": profile.path, "InstanceProfileName": profile.name, "InstanceProfileId": profile.id, "Arn": profile.arn,
        "CreateDate": profile.create_date.timestamp(), "Roles": [role_shape(r) for r in profile.roles],
    }  # fmt: skip
    if tags:
        out["Tags"] = profile.tags
    return out


@action("iam", "ListInstanceProfiles")
def list_profiles(world: World, call: Call) -> dict[str, Any]:
    """moto ignores PathPrefix and pages."""
    prefix = call.params.get("PathPrefix") or "/"
    if not prefix.startswith("/"):
        raise AwsError("ValidationError", "The specified value for pathPrefix is invalid. It must begin with /")
    found = [p for p in network.iam().instance_profiles.values() if p.path.startswith(prefix)]
    start = int(call.params.get("Marker") or 0)
    end = start + int(call.params.get("MaxItems") or MOST)
    answer: dict[str, Any] = {
        "InstanceProfiles": [profile_shape(p, False) for p in found[start:end]],
        "IsTruncated": end < len(found),
    }
    if end < len(found):
        answer["Marker"] = str(end)
    return answer


def _profile(name: str) -> Any:
    found = network.iam().instance_profiles.get(name)
    if found is None:
        raise AwsError("NoSuchEntity", f"Instance Profile {name} cannot be found.", 404)
    return found


@action("iam", "ListInstanceProfileTags")
def list_profile_tags(world: World, call: Call) -> dict[str, Any]:
    return {"Tags": _profile(call.params.get("InstanceProfileName", "")).tags, "IsTruncated": False}


@action("iam", "GetInstanceProfile")
def get_profile(world: World, call: Call) -> dict[str, Any]:
    return {"InstanceProfile": profile_shape(_profile(call.params.get("InstanceProfileName", "")), True)}
