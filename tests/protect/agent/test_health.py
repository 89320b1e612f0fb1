"""The health endpoints: three paths, honest codes, and no client that holds others up."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.agent.health import (
    DAWDLE_SECONDS,
    MOST_CONNECTIONS,
    Endpoints,
    HealthServer,
    answer,
    say,
)

METHODS, NAMES = (b"GET", b"HEAD"), (b"livez", b"metrics")


class Stage:
    """What the endpoints say, changed by the tests."""

    good = True


@pytest.fixture
def server() -> Iterator[HealthServer]:
    """Serve on a free port of the loopback address."""
    Stage.good = True
    endpoints = Endpoints(
        live=lambda: say(True),
        ready=lambda: say(Stage.good, parts={"sysctl": "x"}),
        metrics=lambda: "# nothing\n",
    )
    running = HealthServer(("127.0.0.1", 0), endpoints)
    yield running
    running.close()


def get(server: HealthServer, path: str, method: str = "GET") -> tuple[int, str]:
    """Ask, and give code and body."""
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # as above
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_three_paths(server: HealthServer) -> None:
    """Good is 200, unready 503; a query is no part of the path; anything else is not there."""
    assert get(server, "/livez") == (200, '{"ok": true}\n')
    assert get(server, "/readyz?verbose")[0] == 200
    assert get(server, "/metrics") == (200, "# nothing\n")
    assert get(server, "/livez", "HEAD") == (200, "")
    assert get(server, "/../etc/passwd")[0] == 404
    assert get(server, "/livez", "POST")[0] == 501
    Stage.good = False
    code, body = get(server, "/readyz")
    assert (code, json.loads(body)) == (503, {"ok": False, "parts": {"sysctl": "x"}})


@pytest.mark.parametrize("said", [b"", b"GET /livez HTTP/1.1\r\n"], ids=["silent", "half"])
def test_clients_that_dawdle_hold_nobody_up(server: HealthServer, said: bytes) -> None:
    """However many connections are held open, silent or with half a request, each probe is answered
    at once; the oldest make room.
    """
    idle = []
    try:
        for _ in range(3 * MOST_CONNECTIONS):
            idle.append(socket.create_connection(("127.0.0.1", server.port)))
            idle[-1].sendall(said)
        for path in ("/livez", "/readyz", "/metrics") * 5:
            assert get(server, path)[0] == 200
        idle[0].settimeout(60)
        assert b"" == idle[0].recv(10)
    finally:
        for connection in idle:
            connection.close()


def test_a_connection_has_its_deadline(server: HealthServer) -> None:
    """Who sends a letter now and then, to be taken for alive, is hung up on all the same."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.settimeout(0.2)
        began = time.monotonic()
        ended = False
        while not ended and time.monotonic() - began < 60:
            try:
                connection.sendall(b"x")
                ended = connection.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True

        assert ended
        assert time.monotonic() - began >= DAWDLE_SECONDS - 1


def test_a_long_answer_reaches_one_who_reads_slowly() -> None:
    """More than fits into the sockets is sent as it is read."""
    long = "x" * 3_000_000
    endpoints = Endpoints(live=lambda: say(True), ready=lambda: say(True), metrics=lambda: long)
    running = HealthServer(("127.0.0.1", 0), endpoints)
    try:
        assert (200, long) == get(running, "/metrics")
    finally:
        running.close()


@given(st.binary(max_size=200))
def test_no_request_is_too_strange(request: bytes) -> None:
    """Whatever is sent, the answer is one of HTTP, and its body is our own."""
    endpoints = Endpoints(live=lambda: say(True), ready=lambda: say(True), metrics=lambda: "m")

    known = (b"x", b"GET /x", *(b"%s /%s" % pair for pair in product(METHODS, NAMES)))

    assert answer(request, endpoints) in {answer(line, endpoints) for line in known}


def test_garbage_is_answered_or_dropped(server: HealthServer) -> None:
    """Bytes that are no request change nothing."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"\x16\x03\x01\x00\xff\r\n\r\n")
        connection.recv(1000)

    assert get(server, "/livez")[0] == 200


def test_an_address_that_is_taken_is_told(server: HealthServer) -> None:
    """Binding fails at once."""
    with pytest.raises(OSError, match="in use"):
        HealthServer(
            ("127.0.0.1", server.port),
            Endpoints(live=lambda: say(True), ready=lambda: say(True), metrics=str),
        )
