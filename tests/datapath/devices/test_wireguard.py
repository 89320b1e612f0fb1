"""WireGuard between two nodes, by the keys that both ends have. Each case was seen on Linux
6.12.117 with wireguard-tools 1.0.20210914: whether two echoes were answered.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.devices import (
    KeyUnknown,
    NoEndpointOf,
    NoPeerFor,
    PresharedAlone,
    SourceNotAllowed,
    TunnelPortClosed,
)
from podpath.datapath.tracing.trace import Conversation, Undecided
from podpath.datapath.vocabulary import BoundaryName
from podpath.net.addresses import Prefix
from podpath.node.cluster import Cluster
from podpath.node.links import KeyedPeer, Link, Wireguard
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, ip, listening, probe
from tests.datapath.given import given_rules, given_tables

PORT = 51820
PROBE = probe("tcp 10.1.0.2 > 10.2.0.2:80 from pod")


def peer(key: str, allowed: str, endpoint: str = "", *, port: int = PORT) -> KeyedPeer:
    """Return a peer as `wg show` tells of it."""
    prefixes = tuple(Prefix.parse(word) for word in allowed.split())
    return KeyedPeer(
        key=key, allowed=prefixes, endpoint=ip(endpoint) if endpoint else None, port=port
    )


A_TO_B = peer("B", "10.2.0.0/16", "192.0.2.2")
B_TO_A = peer("A", "10.1.0.0/16", "192.0.2.1")
SIDE_A = Wireguard(key="A", port=PORT, peers=(A_TO_B,))
SIDE_B = Wireguard(key="B", port=PORT, peers=(B_TO_A,))


def side(number: int, device: Wireguard | None, *, up: bool = True) -> Node:
    """Return a node that sends what is for the other's pods into WireGuard."""
    own, other = f"10.{number}.0", f"10.{3 - number}.0"
    host = given_netns(
        "host",
        f"eth0 192.0.2.{number}/24",
        f"wg0 kind wireguard mtu 1420{'' if up else ' down'}",
        f"v1 peer pod:eth0 {own}.1/24",
        routes=[f"{other}.0/16 dev wg0"],
        sysctls=forwarding(rp_filter="0"),
        netns={"sockets": listening(22)},
    )

    def keyed(link: Link) -> Link:
        return replace(link, wireguard=device) if link.name == "wg0" else link

    links = host.links._replace(items=tuple(keyed(link) for link in host.links.items))
    pod = given_netns(
        "pod", f"eth0 mtu 1420 {own}.2/24 peer host:v1", routes=[f"default via {own}.1 dev eth0"]
    )
    return given_node(replace(host, links=links), pod)


def walk(
    here: Wireguard | None = SIDE_A, there: Wireguard | None = SIDE_B, *, up: bool = True
) -> Conversation:
    """Walk from a pod of one node to one of the other."""
    nodes = {"a": side(1, here), "b": side(2, there, up=up)}
    return converse(Cluster(nodes=nodes).seen_from("a"), PROBE)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (SIDE_A, SIDE_B),
        (SIDE_A, replace(SIDE_B, peers=(peer("A", "10.1.0.0/16"),))),
        (replace(SIDE_A, peers=(A_TO_B, peer("C", "10.0.0.0/8", "192.0.2.9"))), SIDE_B),
        (
            replace(SIDE_A, port=1234, mark=7),
            replace(SIDE_B, peers=(replace(B_TO_A, port=1234),)),
        ),
    ],
)
def test_ends_that_know_each_other_carry(here: Wireguard, there: Wireguard) -> None:
    """An endpoint that one end alone knows is enough, and the longest prefix says whose it is."""
    assert walk(here, there).verdict == "ALWAYS"


@pytest.mark.parametrize(
    ("here", "there", "reason"),
    [
        (
            replace(SIDE_A, peers=(peer("C", "10.2.0.0/16", "192.0.2.2"),)),
            SIDE_B,
            KeyUnknown("wg0", "C", is_own=True),
        ),
        (
            SIDE_A,
            replace(SIDE_B, peers=(peer("C", "10.1.0.0/16", "192.0.2.1"),)),
            KeyUnknown("wg0", "A", is_own=False),
        ),
        (SIDE_A, replace(SIDE_B, peers=()), KeyUnknown("wg0", "A", is_own=False)),
        (
            replace(SIDE_A, peers=(peer("B", "10.99.0.0/16", "192.0.2.2"),)),
            SIDE_B,
            NoPeerFor("wg0", ip("10.2.0.2")),
        ),
        (
            SIDE_A,
            replace(SIDE_B, peers=(peer("A", "10.99.0.0/16", "192.0.2.1"),)),
            SourceNotAllowed("wg0", ip("10.1.0.2")),
        ),
        (
            replace(SIDE_A, peers=(peer("B", "10.2.0.0/16", "192.0.2.2", port=51999),)),
            SIDE_B,
            TunnelPortClosed("wg0", 51999, PORT, up=True),
        ),
        (
            replace(SIDE_A, peers=(peer("B", "10.2.0.0/16"),)),
            SIDE_B,
            NoEndpointOf("wg0", "B"),
        ),
        (
            replace(SIDE_A, peers=(A_TO_B, peer("C", "10.2.0.0/24", "192.0.2.2"))),
            SIDE_B,
            KeyUnknown("wg0", "C", is_own=True),
        ),
        (SIDE_A, replace(SIDE_B, port=51999), TunnelPortClosed("wg0", PORT, 51999, up=True)),
        (
            replace(SIDE_A, peers=(replace(A_TO_B, preshared=True),)),
            SIDE_B,
            PresharedAlone("wg0"),
        ),
    ],
)
def test_ends_that_do_not_go_together_drop(
    here: Wireguard, there: Wireguard, reason: object
) -> None:
    """As they did on the kernel."""
    found = walk(here, there)

    assert found.verdict == "NEVER"
    assert found.branches[0].last.deciding.reason == reason


def test_an_endpoint_that_nobody_has_ends_the_connection() -> None:
    """The address is of no node."""
    found = walk(replace(SIDE_A, peers=(peer("B", "10.2.0.0/16", "192.0.2.77"),)))

    assert found.verdict == "NEVER"


def test_a_device_that_is_down_listens_to_nothing() -> None:
    """Its socket is open while the device is up."""
    found = walk(up=False)

    reason = found.branches[0].last.deciding.reason
    assert reason == TunnelPortClosed("wg0", PORT, PORT, up=False)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (None, SIDE_B),
        (SIDE_A, None),
        (replace(SIDE_A, peers=(), complete=False), SIDE_B),
        (SIDE_A, replace(SIDE_B, peers=(), complete=False)),
        (
            replace(SIDE_A, peers=(replace(A_TO_B, preshared=True),)),
            replace(SIDE_B, peers=(replace(B_TO_A, preshared=True),)),
        ),
    ],
)
def test_keys_that_are_not_known_leave_it_undecided(
    here: Wireguard | None, there: Wireguard | None
) -> None:
    """No output of `wg show` tells, it is cut, or both have a key that it hides."""
    found = walk(here, there)

    outcome = found.branches[0].last.outcome
    assert isinstance(outcome, Undecided)
    reason = found.branches[0].last.deciding.reason
    assert isinstance(reason, BoundaryMet)
    assert reason.boundary is BoundaryName.PRIVATE_TUNNEL


def test_a_preshared_key_that_was_used_is_one() -> None:
    """They shook hands by it."""
    mine = replace(A_TO_B, preshared=True, shook_hands=True)
    yours = replace(B_TO_A, preshared=True)

    assert "ALWAYS" == walk(replace(SIDE_A, peers=(mine,)), replace(SIDE_B, peers=(yours,))).verdict


def test_what_is_unwrapped_has_no_mark() -> None:
    """The mark that a rule gave the outer packet was that packet's (`wg_reset_packet`)."""
    tables = (
        given_rules("PREROUTING -p udp -j MARK --set-mark 0x7", table="mangle"),
        given_rules("FORWARD -i wg0 -m mark ! --mark 0x0 -j DROP"),
    )
    ruled = tuple(table for text in tables for table in given_tables(text))
    there = side(2, SIDE_B)
    host = replace(there.host, netfilter={4: Netfilter(tables=ruled, complete=True)})
    nodes = {"a": side(1, SIDE_A), "b": given_node(host, there.namespaces["pod"])}

    assert "ALWAYS" == converse(Cluster(nodes=nodes).seen_from("a"), PROBE).verdict
