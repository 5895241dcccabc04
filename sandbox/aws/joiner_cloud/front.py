"""The front: every request passes here. Admin routes, then counting, faults, limits, credentials, policies; then a
handler of ours or moto.

Invariant: whatever happens, the caller gets an answer of its own protocol, and the call is counted once.
"""

from __future__ import annotations

import json
import time
import traceback
import uuid
from collections.abc import Callable, Iterable
from typing import Any
from xml.sax.saxutils import escape

from . import wire
from .call import Call, read
from .errors import AwsError
from .httpd import Dropped
from .moto_app import Moto
from .registry import ACTIONS, PASS
from .world import World

START_WAIT = 60.0
Answer = tuple[int, list[tuple[str, str]], bytes]


class Front:
    """The WSGI application."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.moto = Moto()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith("/_sandbox/"):
            from .admin import answer

            status, headers, body = answer(self.world, environ)
        else:
            status, headers, body = self._aws(environ)
        start_response(f"{status} {'OK' if status < 400 else 'Error'}", headers)
        return [body]

    def _aws(self, environ: dict[str, Any]) -> Answer:
        began = time.perf_counter()
        world = self.world
        error: AwsError | None = None
        call: Call | None = None
        try:
            if not world.ready.wait(START_WAIT):
                raise AwsError("ServiceUnavailable", world.broken or "The sandbox is still starting", 503)
            call = read(environ, world.settings.region)
            call.request_id = str(uuid.uuid4())
            if call.protocol == "rest" and call.service:
                self.moto.route(call)
            lost = self._faults(call)
            answer = self._answer(call)
            if lost:
                raise Dropped
        except Dropped:
            self._note(call, 0, began, "lost response")
            raise
        except AwsError as raised:
            error = raised
            answer = render_error(call, raised)
        except Exception as unexpected:
            traceback.print_exc()
            name = call.name if call else "?"
            error = AwsError(
                "InternalError", f"the sandbox failed in {name}: {type(unexpected).__name__}: {unexpected}", 500
            )
            answer = render_error(call, error)
        self._note(call, answer[0], began, repr(error) if error else None)
        return answer

    def _note(self, call: Call | None, status: int, began: float, error: str | None) -> None:
        name = call.name if call and call.service else "unknown:unknown"
        caller = call.principal.arn if call else ""
        self.world.calls.note(name, caller, status, time.perf_counter() - began, error)

    def _faults(self, call: Call) -> bool:
        """Meets injected faults; returns whether the answer shall be lost after the work is done."""
        lost = False
        for fault in self.world.faults.for_call(call.service, call.action):
            if fault.kind == "latency":
                time.sleep(fault.milliseconds / 1000)
            elif fault.kind == "lost-response":
                lost = True
            elif fault.kind == "outage":
                if fault.milliseconds:
                    time.sleep(fault.milliseconds / 1000)
                raise AwsError(fault.code or "ServiceUnavailable", fault.message, fault.status or 503)
            elif fault.kind == "throttle":
                raise throttled(call, fault.code)
            else:
                raise AwsError(fault.code or "InternalError", fault.message, fault.status or 400)
        return lost

    def _answer(self, call: Call) -> Answer:
        from .authenticate import authenticate
        from .authorize import authorize

        world = self.world
        authenticate(world, call)
        if call.service == "ec2" and world.settings.rate_limits:
            if not world.limits.take(call.region, call.action, time.monotonic()):
                raise throttled(call, None)
        entry = ACTIONS.get((call.service, call.action))
        if call.protocol in ("ec2", "query") and call.service in ("ec2", "iam", "sts"):
            try:
                call.params = wire.parse(call.service, call.action, call.flat)
            except AwsError:
                raise
            except Exception:
                raise AwsError(
                    "InvalidAction", f"The action {call.action} is not valid for this web service."
                ) from None
        if call.service == "sqs" and call.action == "ReceiveMessage":
            with world.lock:
                authorize(world, call)
            from .sqs import receive

            return receive(world, call, self.moto)
        if entry is not None and not entry.locks:
            with world.lock:
                authorize(world, call)
            return self._ours(entry.handler, call)
        with world.lock:
            world.advance()
            authorize(world, call)
            if entry and not entry.everywhere and call.region != world.settings.region:
                raise AwsError(
                    "UnsupportedOperation",
                    f"The sandbox has instances in {world.settings.region} only, not in {call.region}; "
                    "use that region, or start the sandbox with another one",
                )
            return self._ours(entry.handler, call) if entry else self._motos(call)

    def _ours(self, handler: Callable[..., Any], call: Call) -> Answer:
        result = handler(self.world, call)
        if result is PASS:
            return self._motos(call)
        if call.protocol in ("ec2", "query"):
            body = wire.render(call.service, call.action, result, call.request_id)
            kind = "text/xml;charset=UTF-8"
        else:
            body = json.dumps(result).encode()
            kind = "application/x-amz-json-1.1" if call.protocol == "json" else "application/json"
        return 200, [("Content-Type", kind), ("x-amzn-RequestId", call.request_id)], body

    def _motos(self, call: Call) -> Answer:
        answer = self.moto.answer(call)
        self.world.message_may_have_come()
        return answer


def throttled(call: Call, code: str | None) -> AwsError:
    """The service's own word for too many requests."""
    if call.service == "ec2":
        return AwsError(code or "RequestLimitExceeded", "Request limit exceeded.", 503)
    name = "Throttling" if call.protocol == "query" else "ThrottlingException"
    return AwsError(code or name, "Rate exceeded", 400)


def render_error(call: Call | None, error: AwsError) -> Answer:
    """An error in the protocol of the call."""
    request_id = call.request_id if call else ""
    code, message = escape(error.code), escape(error.message)
    protocol = call.protocol if call else "rest"
    headers = [("x-amzn-RequestId", request_id)]
    if protocol == "ec2":
        text = (
            f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
            f"<RequestID>{request_id}</RequestID></Response>"
        )
    elif protocol == "query":
        side = "Receiver" if error.status >= 500 else "Sender"
        space = (
            wire.model(call.service).metadata.get("xmlNamespace", "") if call and call.service in ("iam", "sts") else ""
        )
        text = (
            f'<ErrorResponse xmlns="{space}"><Error><Type>{side}</Type><Code>{code}</Code><Message>{message}</Message></Error>'
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
    else:
        body = json.dumps({"__type": error.code, "message": error.message, "Message": error.message}).encode()
        kind = "application/x-amz-json-1.1" if protocol == "json" else "application/json"
        return error.status, [*headers, ("Content-Type", kind), ("x-amzn-ErrorType", error.code)], body
    body = ('<?xml version="1.0" encoding="UTF-8"?>\n' + text).encode()
    return error.status, [*headers, ("Content-Type", "text/xml;charset=UTF-8")], body
