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
    return reader(service, operation.input_shape.name)(tree) or {}


@functools.cache
def reader(service: str, shape_name: str) -> Callable[[Any], Any]:
    """A function that turns the tree of a request's parameters into a value of the named shape."""
    return _reader(model(service).shape_for(shape_name), service == "ec2", {})


def _reader(shape: Any, ec2: bool, seen: dict[str, Any]) -> Callable[[Any], Any]:
    kind = shape.type_name
    if kind == "structure":
        return _structure_reader(shape, ec2, seen)
    if kind == "list":
        wrapper = (
            None if ec2 or shape.serialization.get("flattened") else shape.member.serialization.get("name", "member")
        )
        return _list_reader(_reader(shape.member, ec2, seen), wrapper)
    if kind == "map":
        return _map_reader
    return _scalar_reader(shape.name, CONVERSIONS.get(kind))


def _structure_reader(shape: Any, ec2: bool, seen: dict[str, Any]) -> Callable[[Any], Any]:
    if shape.name in seen:
        return lambda node: seen[shape.name](node)
    seen[shape.name] = None
    parts = {_request_name(n, m, ec2): (n, _reader(m, ec2, seen)) for n, m in shape.members.items()}

    def read(node: Any) -> Any:
        if not isinstance(node, dict):
            return {}
        return {parts[key][0]: parts[key][1](child) for key, child in node.items() if key in parts}

    seen[shape.name] = read
    return read


def _list_reader(item: Callable[[Any], Any], wrapper: str | None) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        if not isinstance(node, dict):
            return []
        rows = node if wrapper is None else node.get(wrapper, {})
        if not isinstance(rows, dict):
            return []
        return [item(rows[k]) for k in sorted((k for k in rows if k.isdigit()), key=int)]

    return read


def _map_reader(node: Any) -> Any:
    entries = node.get("entry", {}) if isinstance(node, dict) else {}
    return {entry.get("key", ""): entry.get("value", "") for entry in entries.values()}


CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": lambda text: text.lower() == "true",
}


def _scalar_reader(name: str, convert: Callable[[str], Any] | None) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        if isinstance(node, dict):
            raise AwsError("InvalidParameterValue", f"{name} must be a single value")
        if convert is None:
            return node
        try:
            return convert(node)
        except ValueError:
            raise AwsError(
                "InvalidParameterValue", f"Invalid value '{node}' for {name}; a number is expected"
            ) from None

    return read


def _request_name(name: str, member: Any, ec2: bool) -> str:
    """How a request spells a member: EC2 has query names, and upper case first."""
    location = member.serialization.get("name")
    if not ec2:
        return location or name
    return member.serialization.get("queryName") or (location[0].upper() + location[1:] if location else name)


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
