"""What the kernel counts of a tunnel's device, and what podpath says of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from podpath.checks.tunnels.tunnel_hears_nothing import check
from tests.assembly.evidence_text import case_of_document
from tests.kernel.router import run

pytestmark = pytest.mark.kernel("ip", "bridge", "iptables", "ping")

HERE, THERE = (f"count-{os.getpid()}-{part}" for part in ("here", "there"))
TUNNEL = "flannel.1"
ENDS = {
    HERE: ("192.0.2.1", "10.244.0.0", "02:00:00:00:00:0a"),
    THERE: ("192.0.2.2", "10.244.1.0", "02:00:00:00:00:0b"),
}
NOISE = 4.0
"""Seconds in which a device that came up has said what it says by itself."""


@pytest.fixture
def tunnel() -> Iterator[None]:
    """Provide two nodes with a VXLAN device each, as flannel makes it."""
    try:
        for netns in ENDS:
            run("ip", "netns", "add", netns)
        run(
            "ip",
            "link",
            "add",
            "wire",
            "netns",
            HERE,
            "type",
            "veth",
            "peer",
            "wire",
            "netns",
            THERE,
        )
        for netns, other in ((HERE, THERE), (THERE, HERE)):
            _make_end(netns, other)
        yield
    finally:
        for netns in ENDS:
            run("ip", "netns", "del", netns)


def _make_end(netns: str, other: str) -> None:
    outer, inner, mac = ENDS[netns]
    far, told, far_mac = ENDS[other]
    for line in (
        f"addr add {outer}/24 dev wire",
        "link set wire up",
        f"link add {TUNNEL} address {mac} type vxlan id 1 dstport 8472 local {outer} nolearning",
        f"addr add {inner}/32 dev {TUNNEL}",
        f"link set {TUNNEL} up",
        f"route add {told.rpartition('.')[0]}.0/24 via {told} dev {TUNNEL} onlink",
        f"neigh add {told} lladdr {far_mac} dev {TUNNEL} nud permanent",
    ):
        run("ip", "-n", netns, *line.split())
    run("bridge", "-n", netns, "fdb", "add", far_mac, "dev", TUNNEL, "dst", far)


def _tell() -> list[str]:
    """Return what is said of the device's counters."""
    listed = run("ip", "-n", HERE, "-s", "link", "show", TUNNEL)
    case = case_of_document(f"```\n$ ip -s link show {TUNNEL}\n{listed}```\n")
    return [str(found.claim) for found in check(case)]


def _ping(count: int) -> None:
    """Ask the other node, whether or not it answers."""
    asked = ("ping", "-c", str(count), "-i", "0.02", "-W", "1", ENDS[THERE][1])
    run("ip", "netns", "exec", HERE, "sh", "-c", f"{' '.join(asked)} || true")


def test_what_a_firewall_drops_outside_never_counts(tunnel: None) -> None:  # noqa: ARG001
    """A device that came up has sent nothing that counts; what is dropped before the tunnel gets it
    is not received; and one answer is enough to be heard.
    """
    time.sleep(NOISE)
    assert [] == _tell()

    port = ("-p", "udp", "--dport", "8472", "-j", "DROP")
    run("ip", "netns", "exec", HERE, "iptables", "-A", "INPUT", *port)
    _ping(12)
    assert [f"{TUNNEL} has sent 12 packets into its tunnel and never received one."] == _tell()

    run("ip", "netns", "exec", HERE, "iptables", "-D", "INPUT", *port)
    _ping(1)
    assert [] == _tell()
