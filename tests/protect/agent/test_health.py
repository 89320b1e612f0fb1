"""The health endpoints: three paths, honest codes, and no client that holds others up."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from podpath_protect.agent.health import MOST_CONNECTIONS, Endpoints, HealthServer, say


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
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310  # as above
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


def test_a_client_that_dawdles_holds_nobody_up(server: HealthServer) -> None:
    """Connections that say nothing are outlived; with too many of them new ones are hung up on, and
    soon served again.
    """
    idle = [
        socket.create_connection(("127.0.0.1", server.port)) for _ in range(MOST_CONNECTIONS - 1)
    ]
    try:
        began = time.monotonic()
        assert get(server, "/livez")[0] == 200
        assert time.monotonic() - began < 2
        idle += [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
    finally:
        for connection in idle:
            connection.close()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            assert get(server, "/livez")[0] == 200
            break
        except OSError:
            time.sleep(0.05)


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
