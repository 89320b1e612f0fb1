"""An HTTP server that answers by a script: for what a real API server cannot be brought to say at
will.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, Self


class Asked(NamedTuple):
    """A request as it came in."""

    verb: str
    path: str
    body: bytes
    authorization: str


class Answer(NamedTuple):
    """What is answered: a code, and content in pieces as they are sent."""

    code: int
    pieces: Iterable[bytes] = ()
    headers: tuple[tuple[str, str], ...] = ()


def refusal(code: int, reason: str, message: str = "no", **details: object) -> Answer:
    """Make the Status that an API server refuses with."""
    status = {
        "kind": "Status",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }
    return Answer(code, [json.dumps(status).encode()])


class Scripted:
    """A server whose answers a function gives."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        """Listen; each request is kept in `asked`."""
        self.asked: list[Asked] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = Asked(
                    self.command,
                    self.path,
                    self.rfile.read(length),
                    self.headers.get("Authorization") or "",
                )
                asked.append(request)
                told = answer(request)
                self.send_response(told.code)
                for name, value in told.headers:
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # who asked may have gone
                    for piece in told.pieces:
                        self.wfile.write(piece)
                        self.wfile.flush()

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _answer  # noqa: N815  # http.server's names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """Return the server's URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def kubeconfig(self, folder: Path, user: dict[str, str] | None = None) -> Path:
        """Write a kubeconfig that leads here."""
        return write_kubeconfig(folder, self.url, user or {"token": "scripted-token-0123456789"})


def write_kubeconfig(folder: Path, server: str, user: dict[str, str]) -> Path:
    """Write a kubeconfig."""
    content = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
