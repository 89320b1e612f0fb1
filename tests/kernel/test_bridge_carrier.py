"""When a bridge loses its carrier, and what podpath says of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from podpath.checks.links.bridge_without_carrier import check
from tests.checks.pasted import ticket_of
from tests.kernel.router import run

pytestmark = pytest.mark.kernel("ip", "ping")

HOST = f"carrier-{os.getpid()}"
SAID = "The pod does not answer."
SETTLES = 5.0
"""Seconds within which the kernel's link watch tells of a change."""


@pytest.fixture
def host() -> Iterator[None]:
    """Provide a host with a container's bridge and one port of it."""
    try:
        run("ip", "netns", "add", HOST)
        for line in (
            "link add cni0 type bridge",
            "addr add 10.77.0.1/24 dev cni0",
            "link set cni0 up",
            "link add veth1 type veth peer name eth0",
            "link set veth1 master cni0 up",
            "link set eth0 up",
        ):
            run("ip", "-n", HOST, *line.split())
        yield
    finally:
        run("ip", "netns", "del", HOST)


def _show(until: str) -> str:
    """Return what the host prints, once its route shows, or shows no more, what is waited for."""
    ends = time.monotonic() + SETTLES
    route = run("ip", "-n", HOST, "route")
    while until not in route and time.monotonic() < ends:
        time.sleep(0.05)
        route = run("ip", "-n", HOST, "route")
    link = run("ip", "-n", HOST, "-br", "link", "show", "cni0")
    return f"# ip route\n{route}# ip -br link show cni0\n{link}"


def _claims(shown: str) -> list[str]:
    lost = "# ping -c1 10.77.0.9\nPING 10.77.0.9 (10.77.0.9) 56(84) bytes of data.\n"
    lost += "From 10.77.0.1 icmp_seq=1 Destination Host Unreachable\n"
    return [str(one.claim) for one in check(ticket_of(f"{SAID}\n\n```\n{lost}{shown}```\n"))]


def test_a_bridge_without_its_last_port_has_no_carrier(host: None) -> None:  # noqa: ARG001
    """It has one with the port; afterwards its route is marked, too."""
    assert [] == _claims(_show("cni0"))

    run("ip", "-n", HOST, "link", "set", "veth1", "nomaster")
    shown = _show("linkdown")

    assert "NO-CARRIER" in shown
    assert "linkdown" in shown
    (claim,) = _claims(shown)
    assert claim.startswith("cni0 has no carrier")
