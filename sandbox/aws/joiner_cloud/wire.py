"""Parsing of requests and rendering of answers by the service models that botocore ships.

Input: flat query parameters and a shape; output: nested dicts with the model's member names, and the reverse.
Only the ec2 and query protocols need this; JSON services exchange plain JSON.
"""

from __future__ import annotations

import datetime
import functools
import re
import threading
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

from .errors import AwsError

EC2_NS = "http://ec2.amazonaws.com/doc/2016-11-15/"
_models: dict[str, Any] = {}
_lock = threading.Lock()


def model(service: str) -> Any:
    """The botocore service model, loaded once."""
    with _lock:
        if service not in _models:
            from moto.core.utils import get_service_model

            _models[service] = get_service_model(service)
        return _models[service]


def iso(epoch: float) -> str:
    """Seconds since 1970 as AWS writes times."""
    stamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    return stamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp.microsecond // 1000:03d}Z"


def from_iso(text: str) -> float:
    """The reverse of ``iso``; accepts seconds as well. Raises ``AwsError`` for anything else."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        # Python 3.10 reads three or six digits of a second only; SDKs send one to nine
        whole = re.sub(r"\.(\d+)", lambda m: f".{m.group(1):0<6.6}", text.replace("Z", "+00:00"))
        stamp = datetime.datetime.fromisoformat(whole)
    except ValueError:
        raise AwsError("InvalidParameterValue", f"'{text}' is not an ISO 8601 time") from None
    if stamp.tzinfo is None:
        stamp = stamp.replace(tzinfo=datetime.timezone.utc)
    return stamp.timestamp()


# --- requests -------------------------------------------------------------------------------------------------


def parse(service: str, action: str, flat: dict[str, str]) -> dict[str, Any]:
    """Query parameters as a nested structure with the model's member names."""
    operation = model(service).operation_model(action)
    if operation.input_shape is None:
        return {}
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        node = tree
        *parents, last = key.split(".")
        for part in parents:
            child = node.get(part)
            if not isinstance(child, dict):
                child = node[part] = {}
            node = child
        node[last] = value
    return _read(operation.input_shape, tree, service == "ec2") or {}


def _read(shape: Any, node: Any, ec2: bool) -> Any:
    kind = shape.type_name
    if kind == "structure":
        if not isinstance(node, dict):
            return {}
        out = {}
        for name, member in shape.members.items():
            child = node.get(_request_name(name, member, ec2))
            if child is not None:
                out[name] = _read(member, child, ec2)
        return out
    if kind == "list":
        if not isinstance(node, dict):
            return []
        if not ec2 and not shape.serialization.get("flattened"):
            node = node.get(shape.member.serialization.get("name", "member"), {})
        keys = sorted((k for k in node if k.isdigit()), key=int)
        return [_read(shape.member, node[k], ec2) for k in keys]
    if kind == "map":
        entries = node.get("entry", {}) if isinstance(node, dict) else {}
        return {entry.get("key", ""): entry.get("value", "") for entry in entries.values()}
    if isinstance(node, dict):
        raise AwsError("InvalidParameterValue", f"{shape.name} must be a single value")
    if kind in ("integer", "long"):
        return _number(int, shape.name, node)
    if kind in ("float", "double"):
        return _number(float, shape.name, node)
    if kind == "boolean":
        return node.lower() == "true"
    return node


def _number(of: Callable[[str], Any], name: str, text: str) -> Any:
    try:
        return of(text)
    except ValueError:
        raise AwsError("InvalidParameterValue", f"Invalid value '{text}' for {name}; a number is expected") from None


@functools.cache
def _cached_name(name: str, query_name: str | None, location: str | None, ec2: bool) -> str:
    if ec2:
        return query_name or (location[0].upper() + location[1:] if location else name)
    return location or name


def _request_name(name: str, member: Any, ec2: bool) -> str:
    s = member.serialization
    return _cached_name(name, s.get("queryName"), s.get("name"), ec2)


# --- answers --------------------------------------------------------------------------------------------------


@functools.cache
def writer(service: str, shape_name: str) -> Callable[[Any], str]:
    """A function that renders a value of the named shape as the inner XML of its element."""
    return _writer(model(service).shape_for(shape_name), service == "ec2", {})


def _writer(shape: Any, ec2: bool, seen: dict[str, Any]) -> Callable[[Any], str]:
    kind = shape.type_name
    if kind == "structure":
        if shape.name in seen:
            return lambda value: seen[shape.name](value)
        seen[shape.name] = None
        parts = []
        for name, member in shape.members.items():
            tag = member.serialization.get("name", name)
            parts.append((name, tag, _writer(member, ec2, seen)))

        def structure(value: Any) -> str:
            out = []
            get = value.get
            for name, tag, write in parts:
                item = get(name)
                if item is not None:
                    out.append(f"<{tag}>{write(item)}</{tag}>")
            return "".join(out)

        seen[shape.name] = structure
        return structure
    if kind == "list":
        inner = _writer(shape.member, ec2, seen)
        tag = shape.member.serialization.get("name", "item" if ec2 else "member")
        return lambda value: "".join(f"<{tag}>{x if isinstance(x, Raw) else inner(x)}</{tag}>" for x in value)
    if kind == "boolean":
        return lambda value: "true" if value else "false"
    if kind == "timestamp":
        return lambda value: value if isinstance(value, str) else iso(value)
    return lambda value: escape(str(value))


class Raw(str):
    """A list item that is rendered already."""


def render(service: str, action: str, result: dict[str, Any], request_id: str) -> bytes:
    """The whole body of a successful ec2 or query answer."""
    operation = model(service).operation_model(action)
    shape = operation.output_shape
    inner = writer(service, shape.name)(result) if shape is not None else ""
    if service == "ec2":
        text = f'<{action}Response xmlns="{EC2_NS}"><requestId>{request_id}</requestId>{inner}</{action}Response>'
    else:
        space = model(service).metadata.get("xmlNamespace", "")
        wrapped = f"<{action}Result>{inner}</{action}Result>" if shape is not None else ""
        text = (
            f'<{action}Response xmlns="{space}">{wrapped}'
            f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{action}Response>"
        )
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + text).encode()
