"""The sandbox's own routes under ``/_sandbox/``. JSON in, JSON out; errors are ``{"error": code, "message": text}``."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote

from . import clusters, events, leftovers, pod_identity, quotas
from .ec2.instances import mark_shutting_down
from .errors import AwsError
from .feed import instances
from .world import World

Answer = tuple[int, list[tuple[str, str]], bytes]
LONGEST_WAIT = 60.0


def answer(world: World, environ: dict[str, Any]) -> Answer:
    method, path = environ["REQUEST_METHOD"], unquote(environ["joiner.path"])[len("/_sandbox/") :].strip("/")
    query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
    try:
        if path == "health":
            return _health(world)
        if not world.ready.wait(60):
            raise AwsError("Starting", world.broken or "the sandbox is still starting", 503)
        if (method, path) == ("GET", "pod-identity"):
            with world.lock:
                return _json(200, pod_identity.credentials(world, environ.get("HTTP_AUTHORIZATION", "")))
        head, _, rest = path.partition("/")
        route = ROUTES.get((method, head))
        if route is None:
            known = ", ".join(sorted(f"{m} /_sandbox/{p}" for m, p in ROUTES))
            raise AwsError("NoRoute", f"no route {method} /_sandbox/{path}; there are {known}", 404)
        body = _body(environ["joiner.body"])
        return _json(200, route(world, rest, query, body))
    except AwsError as error:
        return _json(error.status, {"error": error.code, "message": error.message})
    except Exception as error:
        traceback.print_exc()
        return _json(500, {"error": "InternalError", "message": f"{type(error).__name__}: {error}"})


def _body(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError as error:
        raise AwsError("InvalidJson", f"the body is not JSON: {error}") from None


def _json(status: int, value: Any) -> Answer:
    return status, [("Content-Type", "application/json")], json.dumps(value).encode()


def _health(world: World) -> Answer:
    """200 once every service answers, 503 while starting or when the start failed."""
    if world.broken:
        return _json(503, {"status": "failed", "message": world.broken})
    if not world.ready.is_set():
        return _json(503, {"status": "starting"})
    return _json(200, {"status": "ok", "region": world.settings.region, "accountId": world.account})


def _instances(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    after, wait = int(_number(query, "after")), min(_number(query, "wait"), LONGEST_WAIT)
    with world.lock:
        world.advance()
        if after > world.ec2.seq:
            after = 0  # the reader knew an earlier life of this process
        due = after < world.ec2.seq
    if not due and wait > 0:
        world.ec2.wait(after, wait)
    with world.lock:
        world.advance()
        return instances(world, after)


def _number(query: dict[str, str], name: str) -> float:
    text = query.get(name) or "0"
    try:
        return float(text)
    except ValueError:
        raise AwsError("InvalidParameter", f"{name}={text!r} is no number") from None


def _create_cluster(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    with world.lock:
        return clusters.create(world, body)


def _clusters(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    with world.lock:
        if not rest:
            return {"clusters": [c.describe() for c in world.clusters.values()]}
        if rest not in world.clusters:
            raise AwsError("ResourceNotFoundException", f"No cluster found for name: {rest}.", 404)
        return world.clusters[rest].describe()


def _delete_cluster(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    with world.lock:
        return clusters.delete(world, rest)


def _add_faults(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    specs = body if isinstance(body, list) else [body]
    return {"faults": [world.faults.add(spec) for spec in specs]}


def _clear_faults(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    if rest and not rest.isdigit():
        raise AwsError("InvalidFault", f"'{rest}' is no fault's id")
    return {"deleted": world.faults.clear(int(rest) if rest else None)}


def _interrupt(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    """``{"instanceId", "afterSeconds"?, "rebalance"?}``: the warning now, the termination after a while (120 s)."""
    body = body or {}
    with world.lock:
        world.advance()
        instance = world.ec2.instances.get(body.get("instanceId") or "")
        if instance is None or instance.state != "running":
            raise AwsError("InvalidInstanceID.NotFound", f"no running instance '{body.get('instanceId')}'", 404)
        if body.get("rebalance"):
            return {"eventId": events.rebalance(world, instance)}
        event_id = events.spot_interruption(world, instance)
        after = float(body.get("afterSeconds", 120))
        world.ec2.later(time.time() + after, instance.id, "interrupted")
        return {"eventId": event_id, "terminatesInSeconds": after}


def _terminate(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    """``{"instanceId"}``: the machine dies without a warning, as hardware does."""
    with world.lock:
        instance = world.ec2.instances.get((body or {}).get("instanceId") or "")
        if instance is None:
            raise AwsError("InvalidInstanceID.NotFound", f"no instance '{(body or {}).get('instanceId')}'", 404)
        mark_shutting_down(world, instance, "Server.InternalError", "Server.InternalError: the machine failed")
        return {"instanceId": instance.id}


def _quotas(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    with world.lock:
        return quotas.change(world, body)


def _leftovers(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    with world.lock:
        world.advance()
        return leftovers.of(world, query.get("cluster"))


def _event(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    """``{"detailType", "detail", "source"?, "resources"?}``: any event on the default bus."""
    body = body or {}
    if not body.get("detailType"):
        raise AwsError("InvalidEvent", "'detailType' is missing")
    with world.lock:
        region = world.settings.region
        return {
            "eventId": events.emit(
                world,
                region,
                body["detailType"],
                body.get("resources") or [],
                body.get("detail") or {},
                body.get("source") or "aws.ec2",
            )
        }


def _clear_calls(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    world.calls.clear()
    return {}


def _expire(world: World, rest: str, query: dict[str, str], body: Any) -> Any:
    """``{"role"?}``: the sessions of a role, or all, expire now."""
    return {"expired": world.keys.expire((body or {}).get("role"))}


Route = Callable[[World, str, dict[str, str], Any], Any]
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "instances"): _instances,
    ("GET", "clusters"): _clusters,
    ("POST", "clusters"): _create_cluster,
    ("DELETE", "clusters"): _delete_cluster,
    ("GET", "calls"): lambda world, rest, query, body: world.calls.counts(),
    ("DELETE", "calls"): _clear_calls,
    ("GET", "requests"): lambda world, rest, query, body: {
        "requests": world.calls.recent(int(_number(query, "limit")) or 100)
    },
    ("GET", "faults"): lambda world, rest, query, body: {"faults": world.faults.describe()},
    ("POST", "faults"): _add_faults,
    ("DELETE", "faults"): _clear_faults,
    ("POST", "interrupt"): _interrupt,
    ("POST", "terminate"): _terminate,
    ("POST", "events"): _event,
    ("POST", "expire"): _expire,
    ("POST", "quotas"): _quotas,
    ("GET", "leftovers"): _leftovers,
}
