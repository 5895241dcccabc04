"""SQS's long poll, without holding the account's lock while it waits."""

from __future__ import annotations

import io
import json
import time
from typing import Any

from .call import Call
from .moto_app import Answer, Moto
from .world import World


def receive(world: World, call: Call, moto: Moto) -> Answer:
    """moto's ReceiveMessage with no wait, repeated until there is a message or the time is over."""
    if call.protocol != "json":
        with world.lock:
            return moto.answer(call)
    params = dict(call.params)
    deadline = time.monotonic() + _wait_time(params)
    params["WaitTimeSeconds"] = 0
    body = json.dumps(params).encode()
    while True:
        call.environ["wsgi.input"] = io.BytesIO(body)
        call.environ["CONTENT_LENGTH"] = str(len(body))
        seen = world.arrivals()
        with world.lock:
            answer = moto.answer(call)
        left = deadline - time.monotonic()
        if answer[0] != 200 or left <= 0 or json.loads(answer[2] or b"{}").get("Messages"):
            return answer
        # a message may also become visible again by time alone
        world.wait_for_message(seen, min(left, 1.0))


def _wait_time(params: dict[str, Any]) -> float:
    asked = params.get("WaitTimeSeconds")
    return min(float(asked), 20.0) if asked else 0.0
