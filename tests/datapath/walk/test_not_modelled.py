"""Tests of what the model leaves out."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.vocabulary import BoundaryName
from podpath.datapath.walk.not_modelled import BOUNDARIES, boundary
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.datapath.walks import given_skb, given_walk, last, packet


def test_every_boundary_says_why() -> None:
    """Each has a name, a reason, and a look that shows it, except where none would."""
    assert all(
        item.name == name and item.why and (item.ask or name == "circle")
        for name, item in BOUNDARIES.items()
    )


def test_a_boundary_ends_a_walk_with_its_reason() -> None:
    """The step and the outcome name what is not modeled, and where."""
    walk = given_walk(given_node(given_netns("host", "eth0")))
    outcome = boundary(
        walk, given_skb(walk, packet("10.0.0.1", "10.0.0.2"), "eth0"), BoundaryName.VRF, "eth0"
    )

    assert ("host", "ip -d link show type vrf; ip vrf") == (outcome.netns, outcome.ask)
    assert BoundaryMet(BoundaryName.VRF, ("eth0",)) == outcome.reason
    assert [("VRF", "undecided", outcome.reason)] == [
        (step.stage, step.decision, step.reason) for step in walk.trace.steps
    ]


def host_with(device: str, *more: str, routes: tuple[str, ...] = ("10.0.0.0/8 dev x0",)) -> Node:
    """Return a host with one more device."""
    return given_node(
        given_netns(
            "host",
            "eth0 192.0.2.2/24",
            device,
            *more,
            routes=routes,
            sysctls=forwarding(rp_filter="0"),
        )
    )


@pytest.mark.parametrize(
    ("node", "text", "stage"),
    [
        (host_with("x0 master red", "red kind vrf"), "tcp 10.9.9.9 > 192.0.2.2:80 in x0", "VRF"),
        (host_with("x0 kind vrf"), "tcp 192.0.2.2 > 10.9.9.9:80", "VRF"),
        (host_with("x0 kind geneve"), "tcp 192.0.2.2 > 10.9.9.9:80", "tunnel"),
        (
            host_with("x0 kind vlan lower br0", "br0 bridge"),
            "tcp 192.0.2.2 > 10.9.9.9:80",
            "VLAN over an inner device",
        ),
        (host_with("x0"), "udp 10.9.9.9 > 224.0.0.5:80 in x0", "multicast delivery"),
        (host_with("x0"), "tcp fe80::1 > [fe80::2]:80 from host", "IPv6 link-local scope"),
        (
            host_with("kube-ipvs0 kind dummy 10.96.0.10/32", "x0"),
            "tcp 10.9.9.9 > 10.96.0.10:80 in x0",
            "IPVS",
        ),
    ],
)
def test_walks_that_meet_a_boundary_are_undecided(node: Node, text: str, stage: str) -> None:
    """What is not modeled ends a walk as Undecided, never by a guess."""
    found = converse(node, probe(text))

    assert ("UNDECIDED", stage) == (found.verdict, last(found).deciding.stage)


def test_what_a_walk_passes_is_told_apart_from_what_ends_it() -> None:
    """docs/modelled.md lists both."""
    passed = {name for name, item in BOUNDARIES.items() if not item.ends}

    assert {BoundaryName.TEE, BoundaryName.SET_TARGETS} <= passed
    assert {BoundaryName.VRF, BoundaryName.TUNNEL, BoundaryName.FRAGMENTS}.isdisjoint(passed)
