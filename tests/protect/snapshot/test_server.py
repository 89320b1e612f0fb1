"""Tests of `protect.snapshot.server`: one path over TLS, refusals as an API server's, and clients
that dawdle.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.snapshots import TOKEN_HEADER
from podpath_protect.drops.feed import DropBoard, DropFeed
from podpath_protect.drops.options import DropOptions
from podpath_protect.serving import Certificate
from podpath_protect.snapshot.gate import Gate
from podpath_protect.snapshot.server import (
    MOST_CONNECTIONS,
    PATIENCE_SECONDS,
    DropBackend,
    SnapshotBackend,
    SnapshotServer,
    has_hung_up,
)
from podpath_protect.snapshot.taking import SnapshotStore, TakenSnapshot, TakingError
from podpath_protect.validate.sockets import SocketEnd
from tests.kube.following import until
from tests.kube.scripted import Scripted, write_kubeconfig
from tests.protect.drops.lines import encode, make_drop
from tests.protect.snapshot.endpoints import make_certificate
from tests.protect.snapshot.test_gate import TOKEN, answer_all

CONTENT = os.urandom(3 << 20)


class Served(NamedTuple):
    """An endpoint that runs."""

    port: int
    authority: str
    backend: SnapshotBackend
    fail: list[str]
    """What the next taking fails with."""
    feed: DropFeed

    def ask(self, path: str = "/snapshot", token: str = TOKEN) -> tuple[int, bytes]:
        """Ask for a snapshot."""
        with self.open(path, token) as answer:
            return answer.status, answer.read()

    @contextlib.contextmanager
    def open(self, path: str, token: str = TOKEN) -> Iterator[http.client.HTTPResponse]:
        """Ask, and hang up at the end of a block."""
        context = ssl.create_default_context(cafile=self.authority)
        context.check_hostname = False
        with closing(
            http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=20)
        ) as asked:
            asked.request("GET", path, headers={TOKEN_HEADER: token})
            with asked.getresponse() as answer:
                yield answer


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Provide an endpoint before an API server that lets everybody through."""
    fail: list[str] = []

    def take() -> TakenSnapshot:
        if fail:
            raise TakingError(fail[0])
        return TakenSnapshot(CONTENT, 0.1)

    certificate = make_certificate(tmp_path)
    with Scripted(answer_all) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            gate = Gate(client, "a")
            board = DropBoard()
            board.feed = feed = DropFeed(DropOptions(watchers=1))
            backend = SnapshotBackend(
                node="a",
                gate=gate,
                store=SnapshotStore(take, 10.0),
                counts=Counter(),
                drops=DropBackend(gate=gate, board=board, counts=Counter()),
            )
            end = SocketEnd("127.0.0.1", 0)
            running = SnapshotServer((end,), backend, Certificate(*certificate))
            try:
                yield Served(running.ports[0], certificate[0], backend, fail, feed)
            finally:
                running.close()


def test_a_snapshot_is_served_whole(served: Served) -> None:
    """Byte by byte, and counted."""
    assert served.ask() == (200, CONTENT)
    assert served.ask("/snapshot?x=1")[0] == 200
    assert served.backend.counts == {"allowed": 2}
    assert served.backend.store.taken == 1


def test_refusals_are_such_as_an_api_server_writes(served: Served) -> None:
    """Another path, and no token; the message says who refuses."""
    for path, token, code, why in (
        ("/metrics", TOKEN, 404, "expected /snapshot or /drops"),
        ("/snapshot", "", 401, "a token for this agent is expected"),
    ):
        got, body = served.ask(path, token)
        status = json.loads(body)
        assert (got, status["code"], status["kind"]) == (code, code, "Status")
        assert status["message"] == f"podpath's agent of a: {why}"


def test_a_taking_that_failed_is_said(served: Served) -> None:
    """With its reason."""
    served.fail.append("expected root")
    code, body = served.ask()
    assert (code, json.loads(body)["message"]) == (500, "podpath's agent of a: expected root")
    assert served.backend.counts == {"failed": 1}


def test_who_does_not_speak_tls_gets_nothing(served: Served) -> None:
    """A plain request ends, and the endpoint goes on."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as plain:
        plain.sendall(b"GET /snapshot HTTP/1.0\r\n\r\n")
        got = b""
        with contextlib.suppress(ConnectionResetError):
            got = plain.recv(4096)
    assert b"HTTP" not in got
    assert served.ask()[0] == 200


def test_no_more_than_a_few_wait_at_once(served: Served) -> None:
    """Connections that say nothing take all places; the next one is hung up on, and as they go
    others are served.
    """
    held = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(MOST_CONNECTIONS)]
    try:
        until(lambda: not is_served(served), "a refusal")
    finally:
        for each in held:
            each.close()
    until(lambda: is_served(served), "an answer")


def is_served(served: Served) -> bool:
    """Tell whether a snapshot is handed out, instead of being hung up on."""
    try:
        return served.ask()[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def test_who_watches_and_starts_again_is_not_refused(served: Served) -> None:
    """One may watch at a time: whoever breaks off makes room at once, drops or not."""
    for number in range(3):
        with served.open("/drops") as answer:
            assert answer.status == 200
            served.feed.take(encode(make_drop(flow=f"flow {number}")))
            assert f"flow {number}".encode() in answer.readline()

    assert served.backend.drops is not None
    assert served.backend.drops.counts == {"allowed": 3}


def test_who_watches_beside_another_is_refused_after_a_while(served: Served) -> None:
    """The place of one who is still there is nobody else's; it is free as soon as they go."""
    with served.open("/drops"):
        began = time.monotonic()
        code, body = served.ask("/drops")
        assert time.monotonic() - began >= PATIENCE_SECONDS
    assert (code, json.loads(body)["message"].partition(": ")[2]) == (
        429,
        "1 watch already, which is all that may",
    )
    until(lambda: served.feed.watchers == 0, "a free place")


def test_a_watcher_that_hangs_up_is_seen() -> None:
    """When it sends no more; not while it only waits."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not has_hung_up(ours)
        theirs.sendall(b"x")
        assert not has_hung_up(ours)
        theirs.shutdown(socket.SHUT_WR)
        assert has_hung_up(ours)


def test_a_certificate_that_was_renewed_is_used(tmp_path: Path) -> None:
    """Its files are read again when they change; while they are halfway changed the old goes on."""
    certificate = Certificate(*make_certificate(tmp_path))
    first = certificate.context()
    assert certificate.context() is first
    (tmp_path / "tls.crt").write_text("half", encoding="ascii")
    assert certificate.context() is first
    make_certificate(tmp_path)
    assert certificate.context() is not first


def test_what_is_no_certificate_is_refused(tmp_path: Path) -> None:
    """Files that are not there, and such as are none."""
    with pytest.raises(OSError, match="No such file"):
        Certificate(str(tmp_path / "no.crt"), str(tmp_path / "no.key"))
    for name in ("a.crt", "a.key"):
        (tmp_path / name).write_text("none", encoding="ascii")
    with pytest.raises(OSError, match="PEM"):
        Certificate(str(tmp_path / "a.crt"), str(tmp_path / "a.key"))


def test_an_address_that_is_taken_is_refused_and_all_are_let_go(
    served: Served, tmp_path: Path
) -> None:
    """The first of two addresses is free again after the second was refused."""
    certificate = Certificate(*make_certificate(tmp_path, "other"))
    ends = (SocketEnd("127.0.0.1", 0), SocketEnd("127.0.0.1", served.port))
    with pytest.raises(OSError, match="in use"):
        SnapshotServer(ends, served.backend, certificate)
