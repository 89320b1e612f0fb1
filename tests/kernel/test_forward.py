"""TTL, MTU and the ICMP errors about them held against the real kernel, by what ping is told."""

from __future__ import annotations

import re

import pytest

from podpath.datapath.stages.driver import drive
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.trace import Delivered, Rejected
from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, ip
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_walk
from tests.kernel.kernel_twin import printed_in

pytestmark = pytest.mark.kernel("ip", "ping", "iptables-nft-restore")

TOLD = re.compile(r"From (?P<source>\S+) icmp_seq=1 (?P<what>.*)")
WORDS = {"icmp-ttl-exceeded": "Time to live exceeded", "icmp-frag-needed": "Frag needed and DF set"}
PING, HEADERS = 56, 28


def given(*rules: str) -> Node:
    """Return a router between a client and a server whose link has a smaller MTU; FORWARD has these
    rules.
    """
    netfilter = {
        "netfilter": {4: Netfilter(tables=given_tables(given_rules(*rules)), complete=True)}
    }
    router = given_netns(
        "host", "near 10.0.0.1/24 peer client:eth0", "far 192.0.2.1/24 mtu 1400 peer server:eth0",
        "lo 203.0.113.1/32", sysctls=forwarding(rp_filter="0"), netns=netfilter,
    )  # fmt: skip
    client = given_netns(
        "client", "eth0 10.0.0.2/24 peer host:near", routes=["default via 10.0.0.1 dev eth0"]
    )
    server = given_netns(
        "server",
        "eth0 192.0.2.2/24 mtu 1400 peer host:far",
        routes=["default via 192.0.2.1 dev eth0"],
    )
    return given_node(router, client, server)


def predict(node: Node, ttl: int, size: int) -> tuple[str, str]:
    """Say what the client is told of an echo request: the error and its source, or that it
    arrives.
    """
    walk = given_walk(node)
    echo = Packet(
        ip("10.0.0.2"),
        ip("192.0.2.2"),
        protocols.ICMP,
        7,
        7,
        icmp_type=8,
        ttl=ttl,
        length=size + HEADERS,
        payload=size,
    )
    skb = Skb(echo, node.namespaces["client"], uid=0)
    outcome = drive(walk, skb, paths.OUTPUT)
    if isinstance(outcome, Delivered):
        return "", ""
    assert isinstance(outcome, Rejected), outcome
    assert skb.answer is not None
    answer = Skb(skb.answer, node.namespaces[outcome.netns], uid=0)
    arrived = drive(given_walk(node), answer, paths.OUTPUT)
    assert isinstance(arrived, Delivered), arrived
    return WORDS[outcome.answer], str(arrived.packet.src)


REFUSED = [(1, PING), (64, 1400), (64, 1373), (1, 1400)]
PASSED = [(64, PING), (2, PING), (64, 1372)]


@pytest.mark.parametrize(
    ("rules", "ttl", "size"),
    [
        *(((), *case) for case in REFUSED + PASSED),
        *((("FORWARD -j DROP",), *case) for case in REFUSED),
    ],
)
def test_what_ping_is_told(rules: tuple[str, ...], ttl: int, size: int) -> None:
    """TTL comes before MTU and both before FORWARD; the error comes from the address on the
    client's side.
    """
    node = given(*rules)
    found = TOLD.search(
        printed_in(node, "client", f"ping -c 1 -W 1 -M do -t {ttl} -s {size} 192.0.2.2")
    )
    seen = (re.sub(r" \(mtu = \d+\)", "", found["what"]), found["source"]) if found else ("", "")

    assert predict(node, ttl, size) == seen
