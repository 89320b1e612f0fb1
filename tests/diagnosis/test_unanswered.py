"""Packets that leave the node with a pod's address, which perhaps nobody outside can answer."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import ConversationFailure, Reachability
from podpath.diagnosis.unanswered import LOST, UNANSWERED, leave_unanswered
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables


def routed(*nat: str, pod: str = "10.1.0.2", more: tuple[str, ...] = ()) -> Node:
    """Return a pod behind a veth of a host with an uplink, and another pod behind no device."""
    tables = given_tables(given_rules(*nat, table="nat")) if nat else ()
    host = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "lxc1 peer pod:eth0",
        routes=[f"{pod} dev lxc1", "default via 192.0.2.1 dev eth0", *more],
        sysctls=forwarding(rp_filter="0", proxy_arp="1"),
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True, sets_complete=True)}},
    )
    inside = given_netns("pod", f"eth0 {pod}/32 peer host:lxc1", routes=["default dev eth0"])
    return given_node(host, inside, given_netns("other", "eth0 10.7.0.9/32"))


def cut(made: Node, target: str, source: str = "10.1.0.2", start: str = "pod") -> Conversation:
    """Return a conversation as it is where nobody outside answers for pods."""
    asked = probe(f"tcp {source}:40000 > {target}:80 from {start}")
    return leave_unanswered(made, converse(made, asked))


@pytest.mark.parametrize(
    ("source", "target", "answered"),
    [
        ("10.1.0.2", "203.0.113.9", False),
        ("172.20.0.2", "203.0.113.9", False),
        ("192.168.7.2", "203.0.113.9", False),
        ("100.64.3.2", "203.0.113.9", False),
        ("198.51.100.7", "203.0.113.9", True),
        ("10.1.0.2", "10.1.200.9", True),
        ("10.1.0.2", "10.2.0.9", False),
        ("10.1.0.2", "10.0.128.9", False),
    ],
)
def test_private_addresses_are_answered_only_near_by(
    source: str, target: str, *, answered: bool
) -> None:
    """Within one cluster's range somebody may have a route back; a public address is the
    world's.
    """
    conversation = cut(routed(pod=source), target, source)
    (branch,) = conversation.branches

    assert answered == (Reachability.ALWAYS == conversation.verdict)
    assert answered == branch.works
    assert (ConversationFailure.NONE if answered else UNANSWERED) == branch.kind


def test_a_conversation_ends_with_the_packet_that_left() -> None:
    """Nothing after it is told."""
    made = routed()
    whole = converse(made, probe("tcp 10.1.0.2:40000 > 203.0.113.9:80 from pod"))
    (branch,) = cut(made, "203.0.113.9").branches

    assert ["SYN"] == [trace.name for trace in branch.traces]
    assert 1 < len(whole.branches[0].traces)


def test_a_translated_source_is_answered() -> None:
    """So is the host's own address."""
    assert Reachability.ALWAYS == cut(routed("POSTROUTING -j MASQUERADE"), "203.0.113.9").verdict
    assert Reachability.ALWAYS == cut(routed(), "203.0.113.9", "192.0.2.2", "host").verdict


def test_a_packet_that_leaves_for_a_pod_of_the_node_is_lost() -> None:
    """Its own pod has the address, and the route leads out."""
    (branch,) = cut(routed(), "10.7.0.9").branches

    assert (False, LOST) == (branch.works, branch.kind)


def test_what_fails_anyway_is_left_as_it_is() -> None:
    """And told as the walk tells it."""
    made = routed(more=("unreachable 203.0.113.9",))
    asked = probe("tcp 10.1.0.2:40000 > 203.0.113.9:80 from pod")

    assert converse(made, asked).branches == leave_unanswered(made, converse(made, asked)).branches
