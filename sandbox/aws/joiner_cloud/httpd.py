"""A small threaded HTTP/1.1 server for WSGI applications, with keep-alive.

werkzeug's development server closes each connection; clients of a cloud keep theirs. Input: a bound listening
socket and an application. Invariant: a response leaves in one write, and a request body is always read in full.
"""

from __future__ import annotations

import io
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
MAX_HEAD = 256 * 1024
MAX_BODY = 64 * 1024 * 1024


class Dropped(Exception):
    """Raised by an application to close the connection without an answer."""


def listen(host: str, port: int) -> socket.socket:
    """Binds and listens; a busy port is an ``OSError`` here, before anything else starts."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(512)
    return sock


def serve(sock: socket.socket, app: Application) -> None:
    """Accepts connections until the socket is closed; each has its own daemon thread."""
    while True:
        try:
            conn, peer = sock.accept()
        except OSError:
            return
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_connection, args=(conn, peer, app), daemon=True).start()


def _connection(conn: socket.socket, peer: tuple[str, int], app: Application) -> None:
    reader = conn.makefile("rb", 65536)
    try:
        while _exchange(conn, reader, peer, app):
            pass
    except (OSError, Dropped, ValueError):
        pass
    finally:
        try:
            reader.close()
            conn.close()
        except OSError:
            pass


def _exchange(conn: socket.socket, reader: Any, peer: tuple[str, int], app: Application) -> bool:
    """One request and its answer. Returns whether the connection stays open."""
    line = reader.readline(MAX_HEAD)
    while line in (b"\r\n", b"\n"):
        line = reader.readline(MAX_HEAD)
    if not line:
        return False
    method, target, version = line.decode("latin-1").split(" ", 2)
    headers: list[tuple[str, str]] = []
    while True:
        raw = reader.readline(MAX_HEAD)
        if raw in (b"\r\n", b"\n", b""):
            break
        name, _, value = raw.decode("latin-1").partition(":")
        headers.append((name.strip(), value.strip()))
    lookup = {name.lower(): value for name, value in headers}
    if lookup.get("expect", "").lower() == "100-continue":
        conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = _body(reader, lookup)
    keep = version.strip() == "HTTP/1.1" and lookup.get("connection", "").lower() != "close"
    status, out_headers, payload = _call(app, _environ(method, target, headers, body, peer, conn))
    head = [f"HTTP/1.1 {status}\r\n"]
    for name, value in out_headers:
        if name.lower() not in ("content-length", "connection", "transfer-encoding"):
            head.append(f"{name}: {value}\r\n")
    head.append(f"Content-Length: {len(payload)}\r\n")
    head.append("Connection: keep-alive\r\n\r\n" if keep else "Connection: close\r\n\r\n")
    conn.sendall("".join(head).encode("latin-1") + (b"" if method == "HEAD" else payload))
    return keep


def _body(reader: Any, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int(reader.readline(1024).split(b";")[0], 16):
            parts.append(reader.read(size))
            reader.readline(16)
        while reader.readline(MAX_HEAD) not in (b"\r\n", b"\n", b""):
            pass
        return b"".join(parts)
    size = int(headers.get("content-length", "0") or "0")
    if size > MAX_BODY:
        raise ValueError("request body too large")
    return reader.read(size) if size else b""


def _environ(
    method: str, target: str, headers: list[tuple[str, str]], body: bytes, peer: tuple[str, int], conn: socket.socket
) -> dict[str, Any]:
    path, _, query = target.partition("?")
    if path.startswith("http://"):
        path = "/" + path[7:].partition("/")[2]
    host, port = conn.getsockname()[:2]
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "RAW_URI": target,
        "REQUEST_URI": target,
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": peer[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "joiner.body": body,
        "joiner.path": path,
        "CONTENT_LENGTH": str(len(body)),
    }
    for name, value in headers:
        key = name.upper().replace("-", "_")
        if key == "CONTENT_TYPE":
            environ[key] = value
        elif key != "CONTENT_LENGTH":
            key = "HTTP_" + key
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _call(app: Application, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    answer: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        answer["status"], answer["headers"] = status, headers
        return lambda data: None

    try:
        result = app(environ, start_response)
        try:
            payload = b"".join(result)
        finally:
            close = getattr(result, "close", None)
            if close:
                close()
        return answer["status"], answer["headers"], payload
    except Dropped:
        raise
    except Exception:
        traceback.print_exc()
        return "500 Internal Server Error", [("Content-Type", "text/plain")], b"internal error of the sandbox"
