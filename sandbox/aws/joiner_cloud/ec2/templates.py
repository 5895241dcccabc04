"""Launch templates. moto's have no pages and answer a missing name with the wrong error, so these are ours."""

from __future__ import annotations

import time
from typing import Any

from ..call import Call
from ..errors import AwsError, dry_run, missing
from ..registry import action
from ..world import World
from .entities import Template, TemplateVersion
from .filters import compile_filters, page
from .store import Store, new_id
from .tagspec import tag_list, tags_for

MOST = 200
FILTERS = {
    "launch-template-name": lambda t: t.name,
    "create-time": lambda t: t.created,
}


def find(store: Store, template_id: str | None, name: str | None) -> Template:
    """The template by id or name; AWS's not-found errors otherwise."""
    if template_id and name:
        raise AwsError(
            "InvalidParameterCombination", "Specify either a launch template ID or a launch template name, not both."
        )
    if template_id:
        if template_id not in store.templates:
            raise AwsError(
                "InvalidLaunchTemplateId.NotFound",
                f"The specified launch template, with template ID {template_id}, does not exist.",
            )
        return store.templates[template_id]
    if not name:
        raise AwsError("MissingParameter", "Specify a launch template ID or a launch template name.")
    for template in store.templates.values():
        if template.name == name:
            return template
    raise AwsError(
        "InvalidLaunchTemplateName.NotFoundException",
        f"The specified launch template, with template name {name}, does not exist.",
    )


def version_of(template: Template, version: str | None) -> TemplateVersion:
    """The version that ``$Latest``, ``$Default``, a number or nothing (the default) means."""
    text = version or "$Default"
    if text == "$Latest":
        return template.versions[-1]
    number = template.default if text == "$Default" else _number(text)
    for candidate in template.versions:
        if candidate.number == number:
            return candidate
    raise AwsError(
        "InvalidLaunchTemplateId.VersionNotFound",
        f"Could not find launch template version {text} for launch template {template.id}.",
    )


def _number(text: str) -> int:
    if not text.isdigit():
        raise AwsError(
            "InvalidLaunchTemplateVersion", f"'{text}' is no version; a number, $Latest or $Default is expected"
        )
    return int(text)


def _describe(template: Template) -> dict[str, Any]:
    return {
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "CreateTime": template.created,
        "CreatedBy": template.created_by,
        "DefaultVersionNumber": template.default,
        "LatestVersionNumber": template.versions[-1].number,
        "Tags": tag_list(template.tags),
    }


def _describe_version(template: Template, version: TemplateVersion) -> dict[str, Any]:
    return {
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "VersionNumber": version.number,
        "VersionDescription": version.description,
        "CreateTime": version.created,
        "CreatedBy": template.created_by,
        "DefaultVersion": version.number == template.default,
        "LaunchTemplateData": version.data,
    }


@action("ec2", "CreateLaunchTemplate")
def create_launch_template(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    name = params.get("LaunchTemplateName")
    if not name:
        raise missing("LaunchTemplateName")
    if not 3 <= len(name) <= 128:
        raise AwsError(
            "InvalidLaunchTemplateName.MalformedException",
            f"The launch template name '{name}' must be 3 to 128 characters long",
        )
    data = params.get("LaunchTemplateData")
    if not data:
        raise missing("LaunchTemplateData")
    tags = tags_for(params.get("TagSpecifications"), "launch-template")
    if params.get("DryRun"):
        raise dry_run()
    if any(t.name == name for t in world.ec2.templates.values()):
        raise AwsError(
            "InvalidLaunchTemplateName.AlreadyExistsException",
            f"Launch template name already in use. (name: {name})",
        )
    now = time.time()
    version = TemplateVersion(1, data, params.get("VersionDescription"), now)
    template = Template(new_id("lt"), name, now, call.principal.arn, [version], 1, tags)
    world.ec2.templates[template.id] = template
    return {"LaunchTemplate": _describe(template)}


@action("ec2", "CreateLaunchTemplateVersion")
def create_version(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    template = find(world.ec2, params.get("LaunchTemplateId"), params.get("LaunchTemplateName"))
    data = dict(params.get("LaunchTemplateData") or {})
    if params.get("SourceVersion"):
        data = {**version_of(template, params["SourceVersion"]).data, **data}
    if params.get("DryRun"):
        raise dry_run()
    version = TemplateVersion(template.versions[-1].number + 1, data, params.get("VersionDescription"), time.time())
    template.versions.append(version)
    return {"LaunchTemplateVersion": _describe_version(template, version)}


@action("ec2", "ModifyLaunchTemplate")
def modify(world: World, call: Call) -> dict[str, Any]:
    template = find(world.ec2, call.params.get("LaunchTemplateId"), call.params.get("LaunchTemplateName"))
    if call.params.get("DefaultVersion"):
        template.default = version_of(template, call.params["DefaultVersion"]).number
    return {"LaunchTemplate": _describe(template)}


@action("ec2", "DeleteLaunchTemplate")
def delete(world: World, call: Call) -> dict[str, Any]:
    template = find(world.ec2, call.params.get("LaunchTemplateId"), call.params.get("LaunchTemplateName"))
    if call.params.get("DryRun"):
        raise dry_run()
    del world.ec2.templates[template.id]
    return {"LaunchTemplate": _describe(template)}


@action("ec2", "DeleteLaunchTemplateVersions")
def delete_versions(world: World, call: Call) -> dict[str, Any]:
    template = find(world.ec2, call.params.get("LaunchTemplateId"), call.params.get("LaunchTemplateName"))
    done = []
    for text in call.params.get("Versions", []):
        version = version_of(template, text)
        if version.number == template.default:
            raise AwsError("OperationNotPermitted", "The default version cannot be deleted")
        template.versions.remove(version)
        done.append(
            {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name, "VersionNumber": version.number}
        )
    return {"SuccessfullyDeletedLaunchTemplateVersions": done}


@action("ec2", "DescribeLaunchTemplates")
def describe(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    if params.get("DryRun"):
        raise dry_run()
    if params.get("LaunchTemplateIds"):
        found = [find(world.ec2, i, None) for i in params["LaunchTemplateIds"]]
    elif params.get("LaunchTemplateNames"):
        found = [find(world.ec2, None, n) for n in params["LaunchTemplateNames"]]
    else:
        found = list(world.ec2.templates.values())
    wanted = compile_filters(params.get("Filters"), FILTERS)
    some, token = page([t for t in found if wanted(t)], params, MOST)
    return {"LaunchTemplates": [_describe(t) for t in some], "NextToken": token}


@action("ec2", "DescribeLaunchTemplateVersions")
def describe_versions(world: World, call: Call) -> dict[str, Any]:
    params = call.params
    asked = params.get("Versions") or []
    if params.get("LaunchTemplateId") or params.get("LaunchTemplateName"):
        template = find(world.ec2, params.get("LaunchTemplateId"), params.get("LaunchTemplateName"))
        versions = [version_of(template, v) for v in asked] if asked else list(template.versions)
        low, high = int(params.get("MinVersion") or 0), int(params.get("MaxVersion") or 1 << 31)
        found = [(template, v) for v in versions if low <= v.number <= high]
    elif asked and set(asked) <= {"$Latest", "$Default"}:
        found = [(t, version_of(t, v)) for t in world.ec2.templates.values() for v in asked]
    else:
        raise AwsError("MissingParameter", "Specify a launch template, or only the versions $Latest and $Default.")
    some, token = page(found, params, MOST)
    return {"LaunchTemplateVersions": [_describe_version(t, v) for t, v in some], "NextToken": token}
