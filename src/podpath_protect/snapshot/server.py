"""`GET /snapshot` and `GET /drops` over TLS: one header that matters, refusals in the form that API
servers have.

A handshake or a request that dawdles, and a client that does not read, cost one of a few places for
a bounded time.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Final

from podpath.kube.snapshots import DROPS_PATH, PATH, TOKEN_HEADER
from podpath_protect.drops.feed import (
    BusyError,
    DropBoard,
    DropFeed,
    DropSubscription,
    RequestError,
    parse_wish,
)
from podpath_protect.serving import DAWDLE_SECONDS, Certificate, SecureServer, ServerGroup
from podpath_protect.snapshot.gate import Admission, Entry, Gate
from podpath_protect.snapshot.taking import SnapshotStore, TakingError
from podpath_protect.validate.sockets import SocketEnd

BEAT_SECONDS = 2.0
"""How often a watcher is written to who has no drops, so that one is noticed who went without a
word.
"""
LOOK_SECONDS = 0.2
"""How often it is looked whether a watcher hung up."""
PATIENCE_SECONDS = 2.0
"""How long a watcher waits for a place: who ends a watch and starts the next shall not be refused
because the API server has not yet passed on that the first is over.
"""
MOST_CONNECTIONS = 8
_PIECE = 1 << 18
REFUSALS: Final[Mapping[Entry, HTTPStatus]] = {
    "unknown": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
    "held": HTTPStatus.TOO_MANY_REQUESTS,
    "unreachable": HTTPStatus.SERVICE_UNAVAILABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DropBackend:
    """What watchers are served from."""

    gate: Gate
    board: DropBoard
    counts: Counter[str]
    """Requests, by what became of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotBackend:
    """What requests are served from."""

    node: str
    gate: Gate
    store: SnapshotStore
    counts: Counter[str]
    """Requests, by what became of them."""
    drops: DropBackend | None = None
    """What watchers are served from; None where nobody may watch."""


class _SnapshotListener(SecureServer):
    """The server of one address, with what requests are served from."""

    def __init__(self, end: SocketEnd, backend: SnapshotBackend, certificate: Certificate) -> None:
        self.backend = backend
        super().__init__(end, _SnapshotRequest, certificate, most=MOST_CONNECTIONS)


class _SnapshotRequest(BaseHTTPRequestHandler):
    """Answers GET of one path."""

    server: _SnapshotListener
    timeout = DAWDLE_SECONDS
    protocol_version = "HTTP/1.0"
    server_version, sys_version = "podpath", ""

    def do_GET(self) -> None:
        """Answer."""
        backend = self.server.backend
        path, _, query = self.path.partition("?")
        if path == DROPS_PATH:
            self._watch(backend.drops, query)
            return
        if path != PATH:
            self._refuse(HTTPStatus.NOT_FOUND, f"expected {PATH} or {DROPS_PATH}")
            return
        admission = backend.gate.admit(self.headers.get(TOKEN_HEADER) or "")
        if admission.entry != "allowed":
            backend.counts[admission.entry] += 1
            self._refuse(REFUSALS[admission.entry], admission.why)
            return
        self._serve(backend, admission)

    def _serve(self, backend: SnapshotBackend, admission: Admission) -> None:
        try:
            content = memoryview(backend.store.current().content)
        except TakingError as error:
            backend.counts["failed"] += 1
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        backend.counts[admission.entry] += 1
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        for place in range(0, len(content), _PIECE):
            self.wfile.write(content[place : place + _PIECE])

    def _watch(self, backend: DropBackend | None, query: str) -> None:
        """Stream drops to whoever may have them, until one of both has enough."""
        feed = None if backend is None else backend.board.feed
        if backend is None or feed is None or not feed.options.watchers:
            self._refuse(
                HTTPStatus.NOT_FOUND, "no drops are served: [drops] watchers says how many"
            )
            return
        admission = backend.gate.admit(self.headers.get(TOKEN_HEADER) or "")
        if admission.entry != "allowed":
            backend.counts[admission.entry] += 1
            self._refuse(REFUSALS[admission.entry], admission.why)
            return
        try:
            wish = parse_wish(query)
            with feed.subscribe(wish, PATIENCE_SECONDS) as told:
                backend.counts[admission.entry] += 1
                self._stream(feed, told)
        except RequestError as error:
            backend.counts["mistaken"] += 1
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except BusyError as error:
            backend.counts["held"] += 1
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, str(error))

    def _stream(self, feed: DropFeed, told: DropSubscription) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/jsonl")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        until = longest = time.monotonic() + feed.options.longest
        why, beat = "its time is over", 0.0
        while (left := until - time.monotonic()) > 0:
            found = told.take(min(left, LOOK_SECONDS))
            if found is None:
                why = feed.failure or "drops are heard no more"
                break
            if has_hung_up(self.connection):
                return
            if told.wish.seconds and any(each["kind"] == "listening" for each in found):
                until = min(time.monotonic() + told.wish.seconds, longest)
            lines = [json.dumps(each, ensure_ascii=False) for each in found]
            if not lines and time.monotonic() < beat:
                continue
            # a line with nothing in it shows whether a client is there that went without a word
            self.wfile.write("".join(f"{line}\n" for line in lines or [""]).encode())
            beat = time.monotonic() + BEAT_SECONDS
        last = {"schema": "podpath/drops/v1", "kind": "end", "why": why}
        self.wfile.write(f"{json.dumps(last)}\n".encode())

    def _refuse(self, code: HTTPStatus, why: str) -> None:
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": int(code),
            "reason": code.phrase.replace(" ", ""),
            "message": f"podpath's agent of {self.server.backend.node}: {why}",
        }
        body = json.dumps(status).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's signature
        """Log no request: counters tell, and what strangers write stands in no log."""


def has_hung_up(connection: socket.socket) -> bool:
    """Tell whether the other end sends no more, which whoever asked for a stream does only when
    it wants no more of it.
    """
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


class SnapshotServer(ServerGroup):
    """The endpoint at every address that it has."""

    def __init__(
        self, ends: tuple[SocketEnd, ...], backend: SnapshotBackend, certificate: Certificate
    ) -> None:
        """Bind; `OSError` where an address is taken or not ours."""
        super().__init__(ends, lambda end: _SnapshotListener(end, backend, certificate), "snapshot")
