"""Tests of the address that a host sends from."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from podpath.datapath.conversations.own_address import bind_source
from podpath.testing.nodes import given_netns, given_node, probe

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
