"""``python -m joiner_cloud --port N --state-dir D``: parses, binds, loads in the background, serves until a signal."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from .httpd import listen, serve
from .world import Settings, World


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="joiner_cloud", description="A cloud account on one machine: moto and what it lacks."
    )
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--state-dir", required=True, help="folder for this process's files (port, pid)")
    parser.add_argument("--region", default="us-west-2", help="the account's main region (%(default)s)")
    parser.add_argument(
        "--pending-seconds", type=float, default=0.0, help="how long an instance is pending (%(default)s)"
    )
    parser.add_argument(
        "--shutting-down-seconds", type=float, default=0.0, help="how long it is shutting down (%(default)s)"
    )
    parser.add_argument(
        "--credentials",
        choices=("strict", "open"),
        default="strict",
        help="open accepts any access key as the administrator",
    )
    parser.add_argument(
        "--policies", choices=("strict", "open"), default="strict", help="open allows every call of a known key"
    )
    parser.add_argument("--rate-limits", action="store_true", help="enforce EC2's request token buckets")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    options = arguments(sys.argv[1:] if argv is None else argv)
    state = Path(options.state_dir)
    state.mkdir(parents=True, exist_ok=True)
    try:
        sock = listen("127.0.0.1", options.port)
    except OSError as error:
        print(f"joiner_cloud: cannot bind 127.0.0.1:{options.port}: {error}; choose another --port", file=sys.stderr)
        return 1
    port = sock.getsockname()[1]
    world = World(
        Settings(
            region=options.region,
            pending_seconds=options.pending_seconds,
            shutting_down_seconds=options.shutting_down_seconds,
            check_credentials=options.credentials == "strict",
            check_policies=options.policies == "strict",
            rate_limits=options.rate_limits,
            state_dir=str(state),
        )
    )
    (state / "port").write_text(f"{port}\n")
    (state / "pid").write_text(f"{os.getpid()}\n")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    threading.Thread(target=_load, args=(world,), daemon=True).start()
    print(f"joiner_cloud: listening on http://127.0.0.1:{port}", file=sys.stderr, flush=True)
    serve(sock, Application(world))
    return 0


class Application:
    """Answers health at once and everything else when the services are loaded."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._front: Any = None
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"] == "/_sandbox/health" and not self.world.ready.is_set():
            broken = {"status": "failed", "message": self.world.broken}
            text = json.dumps(broken if self.world.broken else {"status": "starting"}).encode()
            start_response("503 Error", [("Content-Type", "application/json")])
            return [text]
        with self._lock:
            if self._front is None:
                self.world.ready.wait(60)
                from .front import Front

                self._front = Front(self.world)
        return self._front(environ, start_response)


def _load(world: World) -> None:
    try:
        from .load import load

        load(world)
    except Exception as error:
        traceback.print_exc()
        world.broken = f"the sandbox could not start: {type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
