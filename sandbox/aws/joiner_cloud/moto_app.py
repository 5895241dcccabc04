"""moto behind the front: its WSGI application, its routing of REST calls, and the settings it needs.

Callers hold the account's lock around ``answer``.
"""

from __future__ import annotations

import functools
from typing import Any

from .call import Call
from .errors import AwsError

Answer = tuple[int, list[tuple[str, str]], bytes]


@functools.cache
def application() -> Any:
    """moto's dispatcher, made once."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    return DomainDispatcherApplication(create_backend_app)


def warm(service: str) -> None:
    """Makes a service's application now, so that its first call does not pay for it."""
    from moto.moto_server.werkzeug_app import create_backend_app

    app = application()
    with app.lock:
        if service not in app.app_instances:
            app.app_instances[service] = create_backend_app(service)  # type: ignore[arg-type]


class Moto:
    def route(self, call: Call) -> None:
        """Finds the action of a REST call by its method and path."""
        if call.service == "eks":
            from .eks import route

            if route(call):
                return
        from moto.core.request import Request
        from moto.core.routing import get_service_router

        try:
            operation, _ = get_service_router(call.service).match(Request(dict(call.environ)))
            call.action = operation.name
        except Exception:
            call.action = call.method

    def answer(self, call: Call) -> Answer:
        """moto's answer; what it does not implement is an error of the caller's protocol, not a page of HTML."""
        got: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            got["status"], got["headers"] = status, headers
            return lambda data: None

        try:
            result = application()(call.environ, start_response)
            try:
                body = b"".join(result)
            finally:
                close = getattr(result, "close", None)
                if close:
                    close()
        except NotImplementedError as missing:
            # moto says so of actions and of filters; its own text tells which
            raise AwsError(
                "UnsupportedOperation", f"The sandbox does not implement {call.name}: {missing}", 400
            ) from None
        except ModuleNotFoundError as missing:
            raise AwsError(
                "UnsupportedOperation", f"The sandbox does not offer {call.service}: {missing}", 400
            ) from None
        status = int(got["status"].split(" ", 1)[0])
        page = body[:200].lstrip().lower().startswith(b"<!doctype html")
        if status == 404 and (page or not body):
            raise AwsError("UnsupportedOperation", f"The sandbox does not implement {call.name}", 400)
        if status >= 500 and page:
            raise AwsError("InternalError", f"moto failed in {call.name}", 500)
        return status, got["headers"], body
