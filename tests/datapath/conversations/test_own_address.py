"""Tests of the address that a host sends from."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.conversations.own_address import bind_source
from podpath.net import protocols
from podpath.net.provenance import Listing
from podpath.node.node import Socket
from podpath.testing.nodes import given_netns, given_node, ip, probe

DEVICES = ("eth0 192.0.2.2/24", "tun0 10.244.0.0/32", "cni0 bridge 10.244.0.1/24")
ROUTES = (
    "default via 192.0.2.254 dev eth0",
    "192.0.2.0/24 dev eth0 scope link",
    "10.244.0.0/24 dev cni0 scope link",
    "10.244.1.0/24 via 10.244.1.0 dev tun0 onlink",
    "198.51.100.0/24 dev eth0 src 10.244.0.1",
)
NODE = given_node(given_netns("host", *DEVICES, routes=ROUTES))


@pytest.mark.parametrize(
    ("destination", "source"),
    [
        ("203.0.113.9", "192.0.2.2"),
        ("10.244.0.7", "10.244.0.1"),
        ("10.244.1.7", "10.244.0.0"),
        ("198.51.100.1", "10.244.0.1"),
        ("192.0.2.2", "192.0.2.2"),
    ],
)
def test_the_route_chooses(destination: str, source: str) -> None:
    """By its `src`, else by an address of the device that it leads to."""
    asked = probe(f"tcp 192.0.2.2 > {destination}:80 from host")
    assert str(bind_source(NODE, asked).src) == source


def test_of_a_namespace_that_nobody_shows_it_stays() -> None:
    """Nobody knows its routes."""
    asked = probe("tcp 192.0.2.2 > 203.0.113.9:80 from elsewhere")

    assert bind_source(NODE, asked) == asked


def test_without_a_way_it_stays() -> None:
    """Where nothing leads to the destination, or nobody says whose namespace it is."""
    lonely = given_node(given_netns("host", "eth0 192.0.2.2/24"))
    for text in ("tcp 192.0.2.2 > 203.0.113.9:80 from host", "tcp 192.0.2.2 > 203.0.113.9:80"):
        assert bind_source(lonely, probe(text)) == probe(text)


SERVER, VIRTUAL = "10.244.0.1", "10.244.0.99"
ANY = Socket(protocol=protocols.UDP, local=None, port=53)


@pytest.mark.parametrize(
    ("asked", "sockets", "known", "works"),
    [
        (f"udp 10.244.0.7 > {SERVER}:53 from pod", (ANY,), True, [True]),
        (f"udp 10.244.0.7 > {VIRTUAL}:53 from pod", (ANY,), True, [True, False]),
        (f"udp 10.244.0.7 > {VIRTUAL}:53 from pod", (ANY,), False, [True, False]),
        (
            f"udp 10.244.0.7 > {VIRTUAL}:53 from pod",
            (ANY, replace(ANY, local=ip(VIRTUAL))), True, [True],
        ),
        (f"udp 10.244.0.7 > {VIRTUAL}:53 from pod", (), False, [True]),
        (f"tcp 10.244.0.7 > {VIRTUAL}:53 from pod", (ANY,), False, [True]),
    ],
)  # fmt: skip
def test_a_server_of_any_address_may_answer_from_another(
    asked: str, sockets: tuple[Socket, ...], *, known: bool, works: list[bool]
) -> None:
    """Of a virtual address the route back has another source. Whoever listens at the address itself
    answers from it; where no output shows a socket, none is held against it.
    """
    listed = Listing(sockets, known, "ss -ulnp")
    host = given_netns("host", "v0 10.244.0.1/24 peer pod:eth0", f"lo {VIRTUAL}/32",
                       netns={"sockets": listed})  # fmt: skip
    pod = given_netns("pod", "eth0 10.244.0.7/24 peer host:v0")
    found = converse(given_node(host, pod), probe(asked))

    assert works == [branch.works for branch in found.branches]


@pytest.mark.kernel("unshare")
def test_the_kernel_chooses_the_same() -> None:
    """As `ip route get` says, with the same addresses and routes."""
    script = """\
    ip link add eth0 type veth peer eth0-far; ip link add tun0 type veth peer tun0-far
    ip link add cni0 type bridge
    ip addr add 192.0.2.2/24 dev eth0; ip addr add 10.244.0.0/32 dev tun0
    ip addr add 10.244.0.1/24 dev cni0
    for device in lo eth0 eth0-far tun0 tun0-far cni0; do ip link set $device up; done
    ip route add default via 192.0.2.254 dev eth0
    ip route add 10.244.1.0/24 via 10.244.1.0 dev tun0 onlink
    ip route add 198.51.100.0/24 dev eth0 src 10.244.0.1
    for address in 203.0.113.9 10.244.0.7 10.244.1.7 198.51.100.1; do
      ip -j route get $address
    done
    """
    done = subprocess.run(
        ("unshare", "--net", "sh", "-e", "-c", script),
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    for line in done.stdout.splitlines():
        (route,) = json.loads(line)
        asked = probe(f"tcp 192.0.2.2 > {route['dst']}:80 from host")
        assert str(bind_source(NODE, asked).src) == route["prefsrc"]
