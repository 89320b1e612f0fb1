"""/livez, /readyz and /metrics over HTTP, on the one address that the configuration names.

`/livez` says that the parts work: their threads live and the agent's own loop turns. `/readyz` says
that what they keep holds: the effective chain contains the plugin, the keys hold. Nothing else is
served, and nothing is read from a request but its path. One thread serves all without ever waiting
for one: a connection has its deadline, and where too many are open the oldest makes room, so that
the kubelet's probe is answered whoever holds connections open.
"""

from __future__ import annotations

import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from podpath_protect.agent.metrics import CONTENT_TYPE

DAWDLE_SECONDS = 5.0
"""How long a connection may last in all: a probe takes milliseconds."""
MOST_CONNECTIONS = 64
BACKLOG = 128
LONGEST_REQUEST = 4096
PATHS = ("/livez", "/readyz", "/metrics")
JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an endpoint says."""

    good: bool
    body: str
    content_type: str = JSON_TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where the answers come from; each is called in the thread of the endpoints."""

    live: Callable[[], Answer]
    ready: Callable[[], Answer]
    metrics: Callable[[], str | None]
    """None where they are not to be had here."""


class HealthServer:
    """The endpoints, served from one thread of their own that never waits for a client."""

    def __init__(self, address: tuple[str, int], endpoints: Endpoints) -> None:
        """Bind; `OSError` where the address is taken or not ours."""
        self._endpoints = endpoints
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
            self._socket.listen(BACKLOG)
        except OSError:
            self._socket.close()
            raise
        self._socket.setblocking(False)
        self._stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._visits: dict[int, _Visit] = {}
        """The connections by their descriptors, the oldest first."""
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._poll.register(self._stop, select.POLLIN)
        self._thread = threading.Thread(target=self._serve, name="health", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._socket.getsockname()[1])

    def close(self) -> None:
        """Stop serving."""
        os.eventfd_write(self._stop, 1)
        self._thread.join(DAWDLE_SECONDS)
        self._socket.close()
        os.close(self._stop)

    def _serve(self) -> None:
        try:
            while True:
                ready = self._poll.poll(self._patience())
                if any(descriptor == self._stop for descriptor, _ in ready):
                    return
                for descriptor, _ in ready:
                    if descriptor == self._socket.fileno():
                        self._accept()
                    elif descriptor in self._visits:
                        self._turn(self._visits[descriptor])
                self._end_old(time.monotonic())
        finally:
            for visit in list(self._visits.values()):
                self._end(visit)

    def _patience(self) -> float | None:
        """Return the milliseconds until the oldest connection is over its time; None where there is
        none.
        """
        oldest = next(iter(self._visits.values()), None)
        if oldest is None:
            return None
        return max(0.0, oldest.deadline - time.monotonic()) * 1000 + 1

    def _accept(self) -> None:
        try:
            caller, _ = self._socket.accept()
        except OSError:
            return  # it went away again, or there is no descriptor left: the oldest one's end helps
        caller.setblocking(False)
        if len(self._visits) >= MOST_CONNECTIONS:
            self._end(next(iter(self._visits.values())))
        visit = _Visit(caller, time.monotonic() + DAWDLE_SECONDS)
        self._visits[caller.fileno()] = visit
        self._poll.register(caller, select.POLLIN)
        self._turn(visit)

    def _turn(self, visit: _Visit) -> None:
        """Read or write as much as goes without waiting."""
        try:
            if not visit.reply:
                heard = visit.caller.recv(LONGEST_REQUEST)
                if not heard:
                    self._end(visit)
                    return
                visit.heard += heard
                if not _is_whole(visit.heard):
                    return
                visit.reply = answer(bytes(visit.heard), self._endpoints)
                self._poll.modify(visit.caller, select.POLLOUT)
            sent = visit.caller.send(visit.reply)
        except BlockingIOError:
            return
        except OSError:
            self._end(visit)
            return
        visit.reply = visit.reply[sent:]
        if not visit.reply:
            self._end(visit)

    def _end_old(self, now: float) -> None:
        for visit in list(self._visits.values()):
            if visit.deadline > now:
                return
            self._end(visit)

    def _end(self, visit: _Visit) -> None:
        self._poll.unregister(visit.caller)
        del self._visits[visit.caller.fileno()]
        visit.caller.close()


@dataclass(slots=True, eq=False)
class _Visit:
    """One connection."""

    caller: socket.socket
    deadline: float
    heard: bytearray = field(default_factory=bytearray)
    reply: bytes = b""
    """What is left to be sent; empty while the request is heard."""


def _is_whole(heard: bytearray) -> bool:
    """Tell whether a request is there with all its headers, or is longer than any is."""
    return b"\n\r\n" in heard or b"\n\n" in heard or len(heard) >= LONGEST_REQUEST


def answer(request: bytes, endpoints: Endpoints) -> bytes:
    """Answer a request by its first line."""
    words = request.partition(b"\n")[0].split()
    if len(words) not in {2, 3} or words[0] not in {b"GET", b"HEAD"}:
        return _reply(HTTPStatus.NOT_IMPLEMENTED, "expected GET or HEAD\n", "text/plain")
    match words[1].partition(b"?")[0]:
        case b"/livez":
            said = endpoints.live()
        case b"/readyz":
            said = endpoints.ready()
        case b"/metrics" if (measured := endpoints.metrics()) is not None:
            said = Answer(good=True, body=measured, content_type=CONTENT_TYPE)
        case _:
            text = f"expected one of {', '.join(PATHS)}\n"
            return _reply(HTTPStatus.NOT_FOUND, text, "text/plain")
    status = HTTPStatus.OK if said.good else HTTPStatus.SERVICE_UNAVAILABLE
    return _reply(status, said.body, said.content_type, bare=words[0] == b"HEAD")


def _reply(status: HTTPStatus, text: str, kind: str, *, bare: bool = False) -> bytes:
    body = text.encode()
    head = (
        f"HTTP/1.0 {status.value} {status.phrase}\r\nServer: podpath\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if bare else body)


def say(good: bool, **facts: object) -> Answer:  # noqa: FBT001  # the one fact that every answer has
    """Make an answer of facts."""
    return Answer(good=good, body=json.dumps({"ok": good} | facts, default=str) + "\n")
