"""/livez, /readyz and /metrics over HTTP, on the one address that the configuration names.

`/livez` says that the parts work: their threads live and the agent's own loop turns. `/readyz` says
that what they keep holds: the effective chain contains the plugin, the keys hold. Nothing else is
served, nothing is read from a request but its path, and a client that dawdles holds nobody up.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

from podpath_protect.agent.metrics import CONTENT_TYPE
from podpath_protect.serving import BoundedServer

DAWDLE_SECONDS = 5.0
MOST_CONNECTIONS = 16
JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an endpoint says."""

    good: bool
    body: str
    content_type: str = JSON_TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where the answers come from; each is called in the thread of a request."""

    live: Callable[[], Answer]
    ready: Callable[[], Answer]
    metrics: Callable[[], str]


class _Server(BoundedServer):
    """A server that knows where its answers come from."""

    def __init__(self, address: tuple[str, int], endpoints: Endpoints) -> None:
        self.endpoints = endpoints
        super().__init__(address, _Handler, most=MOST_CONNECTIONS)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of three paths."""

    server: _Server
    timeout = DAWDLE_SECONDS
    protocol_version = "HTTP/1.0"
    server_version, sys_version = "podpath", ""
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain"
    _paths: ClassVar[tuple[str, ...]] = ("/livez", "/readyz", "/metrics")

    def do_GET(self) -> None:
        """Answer."""
        path = self.path.partition("?")[0]
        endpoints = self.server.endpoints
        match path:
            case "/livez":
                answer = endpoints.live()
            case "/readyz":
                answer = endpoints.ready()
            case "/metrics":
                answer = Answer(good=True, body=endpoints.metrics(), content_type=CONTENT_TYPE)
            case _:
                self.send_error(HTTPStatus.NOT_FOUND, f"expected one of {', '.join(self._paths)}")
                return
        body = answer.body.encode()
        self.send_response(HTTPStatus.OK if answer.good else HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  # the library's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's signature
        """Log no request: a probe every second would drown the rest."""


class HealthServer:
    """The endpoints, served from a thread."""

    def __init__(self, address: tuple[str, int], endpoints: Endpoints) -> None:
        """Bind; `OSError` where the address is taken or not ours."""
        self._server = _Server(address, endpoints)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.5,), name="health", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._server.server_port

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(DAWDLE_SECONDS)


def say(good: bool, **facts: object) -> Answer:  # noqa: FBT001  # the one fact that every answer has
    """Make an answer of facts."""
    return Answer(good=good, body=json.dumps({"ok": good} | facts, default=str) + "\n")
