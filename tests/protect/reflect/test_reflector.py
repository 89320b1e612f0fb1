"""The reflector is no stranger's tool: it connects to nobody but who asks and proves to be there,
within its budgets.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from podpath.collect.netns import inside
from podpath_protect.reflect.messages import (
    MOST_PORTS,
    NO_COOKIE,
    Cookie,
    ReflectRequest,
    Report,
    emit,
    parse_answer,
)
from podpath_protect.reflect.options import parse_networks
from podpath_protect.reflect.reflector import (
    COOKIE_SECONDS,
    LIFETIME,
    MOST_ASKERS,
    ROUNDS_AT_ONCE,
    ROUNDS_PER_SECOND,
    Bucket,
    Reflector,
)
from podpath_protect.validate.sockets import SocketEnd
from tests.protect.repair.netns import pod_namespace

LOCAL = parse_networks(["127.0.0.0/8", "::1/128"])
TOKEN = "ab" * 16


@contextmanager
def reflector(address: str = "127.0.0.1", *, per_second: float = 50.0) -> Iterator[Reflector]:
    """Run a reflector for the loopback."""
    made = Reflector([SocketEnd(address, 0)], LOCAL, per_second=per_second)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def asker(made: Reflector, address: str = "127.0.0.1") -> Iterator[socket.socket]:
    """Provide a socket that asks it, from an address."""
    with socket.socket(
        socket.AF_INET6 if ":" in address else socket.AF_INET,
        socket.SOCK_DGRAM | socket.SOCK_NONBLOCK,
    ) as one:
        one.bind((address, 0))
        one.connect(tuple(made.ends[0]))
        yield one


def exchange(
    made: Reflector, one: socket.socket, message: ReflectRequest, seconds: float = 0.03
) -> Cookie | Report | None:
    """Send a request, let the reflector work, and give its answer."""
    one.send(emit(message))
    made.serve(seconds)
    try:
        return parse_answer(one.recv(1024))
    except BlockingIOError:
        return None


def proven(made: Reflector, one: socket.socket, *ports: int, token: str = TOKEN) -> ReflectRequest:
    """Return a request that has its cookie."""
    cookie = exchange(made, one, ReflectRequest(token, ports))
    assert isinstance(cookie, Cookie)
    return ReflectRequest(token, ports, cookie.cookie)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_it_connects_back_and_reports(address: str) -> None:
    """To each port that was asked for, with the token and nothing else; what was refused is told as
    such.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        reflector(address) as made,
        asker(made, address) as one,
        socket.create_server((address, 0), family=family) as server,
    ):
        server.settimeout(60)
        port = server.getsockname()[1]
        with socket.socket(family) as closed:
            closed.bind((address, 0))
            report = exchange(made, one, proven(made, one, port, closed.getsockname()[1]), 0.3)
            accepted, (came, *_) = server.accept()
            with accepted:
                said = accepted.recv(100)

    assert Report(TOKEN, {port: "accepted", closed_port(report, port): "refused"}) == report
    assert (address, f"{TOKEN}\n".encode()) == (came, said)
    assert {
        "challenged": 1,
        "served": 1,
        "connection-accepted": 1,
        "connection-refused": 1,
    } == dict(made.counts)


def closed_port(report: Cookie | Report | None, other: int) -> int:
    """Return the one port of a report that is another."""
    assert isinstance(report, Report)
    (port,) = set(report.fates) - {other}
    return port


def test_without_a_cookie_nothing_is_connected() -> None:
    """Who cannot hear the answer at the address that it wrote into its packet gets no connection
    made there.
    """
    with reflector() as made, asker(made) as one, socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        for cookie in (NO_COOKIE, "f" * 32):
            assert isinstance(
                exchange(made, one, ReflectRequest(TOKEN, (server.getsockname()[1],), cookie)),
                Cookie,
            )
        with pytest.raises(BlockingIOError):
            server.accept()

    assert {"challenged": 2} == dict(made.counts)


def test_a_cookie_is_for_its_address_port_token_and_ports() -> None:
    """One that was given to another, or for other ports, is worth nothing; nor is one of another
    reflector.
    """
    with (
        reflector() as made,
        asker(made) as one,
        asker(made, "127.0.0.2") as other,
        reflector() as stranger,
    ):
        good = proven(made, one, 9)
        with asker(stranger) as third:
            foreign = proven(stranger, third, 9)
        answers = [
            exchange(made, other, good),
            exchange(made, one, good._replace(ports=(10,))),
            exchange(made, one, good._replace(token="cd" * 16)),
            exchange(made, one, good._replace(cookie=foreign.cookie)),
            exchange(made, one, good),
        ]

    assert [Cookie, Cookie, Cookie, Cookie, Report] == [type(answer) for answer in answers]


def test_a_cookie_ends() -> None:
    """It is good for half a minute at least and for a minute at most."""
    asked = ReflectRequest(TOKEN, (9,))
    with reflector() as made, asker(made) as one:
        name = one.getsockname()
        began = (time.monotonic() // COOKIE_SECONDS + 1000) * COOKIE_SECONDS

        def consider(ask: ReflectRequest, now: float) -> str:
            return made._consider(made._listeners[0], ask, name, 1, now)

        assert "challenged" == consider(asked, began)
        cookie = parse_answer(one.recv(1024))
        assert isinstance(cookie, Cookie)
        good = asked._replace(cookie=cookie.cookie)

        assert ["served", "challenged"] == [
            consider(good, began + 2 * COOKIE_SECONDS - 1),
            consider(good, began + 2 * COOKIE_SECONDS),
        ]


def test_no_more_is_open_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where as many connections are open as may be, a request waits until it is asked again; one
    that fits is served.
    """
    monkeypatch.setattr("podpath_protect.reflect.reflector.MOST_OPEN", 3)
    with reflector() as made, asker(made) as one:
        assert exchange(made, one, proven(made, one, 1, 2, 3, 4)) is None
        assert isinstance(exchange(made, one, proven(made, one, 1, 2, 3)), Report)

    assert (1, 1) == (made.counts["held"], made.counts["served"])


@pytest.mark.kernel("ip", "iptables")
def test_refused_and_silent_are_told_apart() -> None:
    """A refusal is told at once; a drop is silence, and told when the time of a connection is
    over.
    """
    with pod_namespace("10.244.91.5/24") as name, inside(f"/run/netns/{name}"):
        subprocess.run(["iptables", "-A", "OUTPUT", "-p", "tcp", "-j", "REJECT"], check=True)
        with reflector() as made, asker(made) as one:
            assert Report(TOKEN, {9: "refused"}) == exchange(made, one, proven(made, one, 9), 0.3)
            subprocess.run(["iptables", "-F", "OUTPUT"], check=True)
            subprocess.run(["iptables", "-A", "OUTPUT", "-p", "tcp", "-j", "DROP"], check=True)
            assert exchange(made, one, proven(made, one, 9), LIFETIME / 3) is None
            made.serve(LIFETIME)
            assert Report(TOKEN, {9: "silent"}) == parse_answer(one.recv(1024))


def test_networks_and_garbage() -> None:
    """Who is not of its networks hears nothing at all, whatever it says; nor does who says what is
    no request.
    """
    made = Reflector([SocketEnd("127.0.0.1", 0)], parse_networks(["10.0.0.0/8"]))
    try:
        with asker(made) as one:
            assert exchange(made, one, ReflectRequest(TOKEN, (9,))) is None
            one.send(b"hello")
            one.send(b"x" * 2000)
            made.serve(0.05)
    finally:
        made.close()

    assert {"foreign": 1, "malformed": 2} == dict(made.counts)


def test_whoever_comes_by_a_default_routes_device_is_foreign() -> None:
    """Without networks named it serves this node's pods: those that come by no device of a default
    route.
    """
    seen = []
    for uplinks in (frozenset({"eth0"}), frozenset({"eth0", "lo"})):
        made = Reflector([SocketEnd("127.0.0.1", 0)], uplinks=lambda uplinks=uplinks: uplinks)  # type: ignore[misc]  # bound now
        try:
            with asker(made) as one:
                seen.append(exchange(made, one, ReflectRequest(TOKEN, (9,))) is None)
        finally:
            made.close()

    assert [False, True] == seen


@pytest.mark.parametrize(
    "address", ["fe80::1%lo", "169.254.7.7", "ff02::1", "::", "0.0.0.0"]
)  # none is bound
def test_addresses_that_name_no_single_pod_are_foreign(address: str) -> None:
    """Of a link alone, of many, of nobody: not connected to, whatever networks are allowed."""
    made = Reflector([SocketEnd("127.0.0.1", 0)], parse_networks(["0.0.0.0/0", "::/0"]))
    try:
        assert not made._serves(address, 1, time.monotonic())
        assert made._serves("10.244.0.9", 1, time.monotonic())
    finally:
        made.close()


def test_an_asker_has_a_budget() -> None:
    """Who asks again and again is held, and no other suffers for it."""
    with reflector() as made, asker(made) as one, asker(made, "127.0.0.2") as other:
        began = time.monotonic()
        for number in range(30):
            exchange(made, one, proven(made, one, 9, token=f"{number:032x}"), 0.01)
        allowed = ROUNDS_AT_ONCE + ROUNDS_PER_SECOND * (time.monotonic() - began)
        assert ROUNDS_AT_ONCE <= made.counts["served"] <= allowed
        assert 30 == made.counts["served"] + made.counts["held"]
        assert isinstance(exchange(made, other, proven(made, other, 9)), Report)


def test_all_together_have_a_budget() -> None:
    """However many ask, no more connections are begun than it may; a request is served whole or not
    at all.
    """
    began = time.monotonic()
    with reflector(per_second=8) as made:
        for last in range(1, 9):
            with asker(made, f"127.0.0.{last}") as one:
                exchange(made, one, proven(made, one, *range(1, 6)), 0.01)

        begun = sum(count for name, count in made.counts.items() if name.startswith("connection-"))
        assert 15 <= begun <= 16 + 8 * (time.monotonic() - began)
        assert begun == 5 * made.counts["served"]


def test_what_is_kept_of_askers_is_bounded() -> None:
    """A thousand addresses and one more: the oldest is forgotten."""
    with reflector() as made:
        for number in range(MOST_ASKERS + 50):
            made._may(
                f"10.0.{number // 256}.{number % 256}",
                ReflectRequest(TOKEN, (9,)),
                time.monotonic(),
            )

        assert MOST_ASKERS == len(made._askers)


def test_a_request_that_is_repeated_is_served_once() -> None:
    """The asker repeats what may be lost; while its connections are open no others are begun."""
    with reflector() as made, asker(made) as one:
        ask = proven(made, one, *range(1, MOST_PORTS + 1))
        for _ in range(3):
            one.send(emit(ask))
        made.serve(0.1)

    assert (1, 2) == (made.counts["served"], made.counts["repeated"])


def test_a_budget_fills_again() -> None:
    """With time, and no further than its most."""
    bucket = Bucket(2.0, 4.0, 4.0, 0.0)

    assert [True, False, True, False] == [
        bucket.take(0, 4),
        bucket.take(1, 3),
        bucket.take(1.5, 3),
        bucket.take(1.5, 0.5),
    ]
    assert [True, False] == [bucket.take(1000, 4), bucket.take(1000, 1)]


def test_it_ends_when_it_is_told_to() -> None:
    """A readable descriptor ends the wait at once."""
    near, far = socket.socketpair()
    with reflector() as made, near, far:
        far.send(b"end")
        began = time.monotonic()
        made.serve(60.0, near.fileno())

        assert time.monotonic() - began < 30
