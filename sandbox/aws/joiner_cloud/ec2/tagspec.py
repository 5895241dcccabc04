"""Tags in requests and answers."""

from __future__ import annotations

from typing import Any

from ..errors import AwsError


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": k, "Value": v} for k, v in tags.items()]


def tag_dict(tags: list[dict[str, str]] | None) -> dict[str, str]:
    """A request's tag list as a dict, after the checks that EC2 makes."""
    out: dict[str, str] = {}
    for tag in tags or []:
        key, value = tag.get("Key", ""), tag.get("Value", "")
        if not key:
            raise AwsError("InvalidParameterValue", "Tag key cannot be empty")
        if key.lower().startswith("aws:"):
            raise AwsError("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
        if len(key) > 128 or len(value) > 256:
            raise AwsError(
                "InvalidParameterValue", f"Tag '{key}' is too long: 128 characters for a key, 256 for a value"
            )
        if key in out:
            raise AwsError("InvalidParameterValue", f"Duplicate tag key '{key}' specified.")
        out[key] = value
    if len(out) > 50:
        raise AwsError("TagLimitExceeded", "The maximum number of tags on a resource is 50")
    return out


def tags_for(specifications: list[dict[str, Any]] | None, kind: str) -> dict[str, str]:
    """The tags that a request's ``TagSpecifications`` give to resources of a kind."""
    out: dict[str, str] = {}
    for spec in specifications or []:
        if spec.get("ResourceType") == kind:
            out.update(tag_dict(spec.get("Tags")))
    return out
