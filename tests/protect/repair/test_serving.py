"""Tests of `protect.repair.serving`: which families a pod's proxy serves, by its sockets, by what
it was told, by neither.
"""

from __future__ import annotations

import ipaddress
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.repair.serving import (
    ListeningSocket,
    find_served,
    parse_declared,
    parse_listening,
)

PORTS = (4140, 4143)
DUAL = ("10.0.0.1", "fd00::1")


def listening(*addresses: str, ports: tuple[int, ...] = PORTS) -> tuple[ListeningSocket, ...]:
    """Make a socket of each address and port."""
    return tuple(ListeningSocket(address, port) for port in ports for address in addresses)


@pytest.mark.parametrize(
    ("sockets", "declared", "families", "word"),
    [
        (listening("0.0.0.0"), (), (4,), "as its sockets listen"),
        (listening("::"), (), (4, 6), ""),
        (listening("127.0.0.1", "::1"), (), (4, 6), ""),
        (listening("0.0.0.0"), listening("::"), (4,), "as its sockets listen"),
        (listening("::1"), (), (6,), "as its sockets listen"),
        ((), listening("0.0.0.0"), (4,), "as its container is told to listen"),
        ((), listening("::"), (4, 6), ""),
        (listening("::", ports=(4140,)), listening("0.0.0.0"), (4,), "is told"),
        ((), (), (4,), "nothing says"),
        (listening("::", ports=(8080, 22)), (), (4,), "nothing says"),
    ],
)
def test_a_family_is_served_where_the_proxy_takes_it(
    sockets: tuple[ListeningSocket, ...],
    declared: tuple[ListeningSocket, ...],
    families: tuple[int, ...],
    word: str,
) -> None:
    """Sockets count before words, both ports must be served, and without either only the first
    address is taken to be.
    """
    service = find_served(DUAL, PORTS, sockets, declared)

    assert families == service.families
    assert word in service.why
    assert bool(service.why) is (len(families) < 2)


def test_a_pod_of_one_family_is_judged_in_it() -> None:
    """Where nothing is known of the proxy, the family of the first address counts, whichever it
    is.
    """
    assert (6,) == find_served(("fd00::1",), PORTS, (), ()).families
    assert (6,) == find_served(("fd00::1", "10.0.0.1"), PORTS, (), ()).families
    assert () == find_served(("fd00::1",), PORTS, listening("0.0.0.0"), ()).families


def spell(address: str, port: int, state: str = "0A") -> str:
    """Spell a socket as the kernel does."""
    packed = ipaddress.ip_address(address).packed
    words = [packed[place : place + 4] for place in range(0, len(packed), 4)]
    host = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"   0: {host}:{port:04X} {'0' * len(host)}:0000 {state} 00000000:00000000"


@given(st.ip_addresses(), st.integers(0, 65535))
def test_the_kernels_lines_are_read(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int
) -> None:
    """Whatever listens is read as it was spelled; what only talks is none."""
    text = f"  sl  local_address rem_address   st\n{spell(str(address), port)}\n"

    assert (ListeningSocket(str(address), port),) == parse_listening(text)
    assert () == parse_listening(spell(str(address), port, "01"))


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    """Nothing that a namespace or a pod's author writes raises."""
    rows = [f"0: {text} {text} 0A x", f"0: {text}:0050 x 0A x"]
    rows += [f"0: 0100007F:{text} 00000000:0000 0A x", "0: -100007F:0050 00000000:0000 0A x"]
    for line in (text, *rows):
        parse_listening(line)
    for socket in (*parse_declared(text), *parse_declared(f"{text}:80,[::1]:{text}")):
        assert 0 < socket.port < 65536


def test_what_a_proxy_is_told_is_read() -> None:
    """Both of linkerd's variables, with and without IPv6."""
    assert (ListeningSocket("127.0.0.1", 4140), ListeningSocket("::1", 4140)) == parse_declared(
        "127.0.0.1:4140,[::1]:4140"
    )
    assert (ListeningSocket("0.0.0.0", 4143),) == parse_declared(
        "0.0.0.0:4143"
    )  # what linkerd's injector writes
    assert () == parse_declared(":4143,x,1.2.3.4:99999,1.2.3.4:" + "9" * 5000)
