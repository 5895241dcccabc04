"""One request of a client, understood: which service and action, by whom, with which parameters."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any
from urllib.parse import parse_qsl

from .errors import AwsError

# signing names that differ from the service's own
SIGNING_NAMES = {"eventbridge": "events"}
# services that speak query with a form body
QUERY = ("iam", "sts", "cloudformation", "autoscaling", "sns", "elasticloadbalancing", "rds", "cloudwatch")
UNSIGNED = ("AssumeRoleWithWebIdentity", "AssumeRoleWithSAML")
CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request")


@dataclasses.dataclass(frozen=True)
class Principal:
    """Who calls. ``kind`` is admin, user, role or anonymous; ``name`` the user's or role's name."""

    kind: str
    arn: str
    account: str
    user_id: str
    name: str = ""
    session_policy: str | None = None


ANONYMOUS = Principal("anonymous", "anonymous", "", "anonymous")


@dataclasses.dataclass
class Call:
    service: str
    action: str
    region: str
    protocol: str  # ec2, query, json or rest
    access_key: str | None
    presigned: bool
    method: str
    path: str  # as sent, still percent-encoded
    query: list[tuple[str, str]]
    headers: dict[str, str]  # lower-case names
    body: bytes
    environ: dict[str, Any]
    flat: dict[str, str] = dataclasses.field(default_factory=dict)
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    principal: Principal = ANONYMOUS
    request_id: str = ""

    @property
    def name(self) -> str:
        return f"{self.service}:{self.action}"


def read(environ: dict[str, Any], default_region: str) -> Call:
    """Understands a WSGI request. The action of a REST service is found later, by its router."""
    headers = {k[5:].replace("_", "-").lower(): v for k, v in environ.items() if k.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    query = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    in_query = dict(query)
    body = environ["joiner.body"]
    access_key = service = region = None
    presigned = "X-Amz-Credential" in in_query
    match = CREDENTIAL.search(headers.get("authorization", ""))
    if match:
        access_key, _, region, service = match.groups()
    elif presigned:
        scope = in_query["X-Amz-Credential"].split("/")
        if len(scope) == 5:
            access_key, _, region, service, _ = scope
    call = Call(
        service=SIGNING_NAMES.get(service or "", service or ""),
        action="",
        region=region or default_region,
        protocol="rest",
        access_key=access_key,
        presigned=presigned,
        method=environ["REQUEST_METHOD"],
        path=environ["joiner.path"],
        query=query,
        headers=headers,
        body=body,
        environ=environ,
    )
    target = headers.get("x-amz-target")
    if target:
        call.protocol = "json"
        call.action = target.rpartition(".")[2]
        call.params = _json(body)
        if not call.service:
            call.service = {"AWSPriceListService": "pricing", "AmazonSSM": "ssm"}.get(target.partition(".")[0], "")
        return call
    form = dict(query)
    if headers["content-type"].startswith("application/x-www-form-urlencoded"):
        form.update(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    if "Action" in form and call.service != "s3":
        call.action = form["Action"]
        call.flat = form
        if not call.service and call.action in UNSIGNED:
            call.service = "sts"
        call.protocol = "ec2" if call.service == "ec2" else "query"
    return call


def _json(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        value = json.loads(body)
    except ValueError:
        raise AwsError("SerializationException", "The request body is not valid JSON") from None
    if not isinstance(value, dict):
        raise AwsError("SerializationException", "The request body must be a JSON object")
    return value
