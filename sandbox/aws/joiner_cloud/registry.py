"""The table of actions that the sandbox answers itself. Everything else is moto's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .call import Call
    from .world import World

Handler = Callable[["World", "Call"], Any]
PASS = object()  # returned by a handler that leaves the request to moto


@dataclasses.dataclass(frozen=True)
class Action:
    handler: Handler
    locks: bool
    everywhere: bool


ACTIONS: dict[tuple[str, str], Action] = {}


def action(service: str, *names: str, locks: bool = True, everywhere: bool = False) -> Callable[[Handler], Handler]:
    """Registers a handler ``(world, call) -> result``.

    ``locks=False`` is for answers that read nothing mutable. EC2's other handlers keep the records of one region, the
    account's main one, unless ``everywhere`` says that they keep none.
    """

    def register(handler: Handler) -> Handler:
        for name in names:
            ACTIONS[(service, name)] = Action(handler, locks, everywhere or not locks or service != "ec2")
        return handler

    return register
