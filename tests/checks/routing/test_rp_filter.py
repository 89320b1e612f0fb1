"""Answers that come back another way than what they answer went, and a node that refuses them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.routing import rp_filter
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause
from podpath.net.provenance import Known
from podpath.node.cluster import Cluster
from podpath.node.node import HOST, Node
from podpath.testing.nodes import span
from tests.datapath.devices.test_underlay import PROBE, routed

FIRST = routed(0, more="eth1 198.51.100.1/24")
RETURNS = routed(1, "10.244.0.0/24 via 198.51.100.1 dev eth1", more="eth1 198.51.100.2/24")
"""A node that sends its answers by its second uplink."""
STRAIGHT = routed(1, more="eth1 198.51.100.2/24")


def filtering(node: Node, value: str, link: str = "eth1") -> Node:
    """Return a node whose reverse-path filter has a value on a device."""
    key = f"net.ipv4.conf.{link}.rp_filter"
    known = Known(value, span(f"{key} = {value}"))
    host = replace(node.host, sysctls={**node.host.sysctls, key: known})
    return replace(node, namespaces={**node.namespaces, HOST: host})


def test_an_answer_by_another_device_meets_a_strict_filter() -> None:
    """The node that asked drops it, by its own line, whatever the node that answers has."""
    node = Cluster(nodes={"a": filtering(FIRST, "1"), "b": RETURNS}).seen_from("a")
    branch = converse(node, PROBE).branches[0]

    cause = find_cause(node, branch)

    assert cause is not None
    assert (cause.check, cause.step.netns) == (rp_filter.NAME, "host")
    assert (cause.trace.name, cause.step.link) == ("SYN-ACK", "eth1")
    assert "net.ipv4.conf.eth1.rp_filter = 1" in [each.text for each in cause.step.spans]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (filtering(FIRST, "0"), RETURNS),
        (filtering(FIRST, "2"), RETURNS),
        (filtering(FIRST, "1"), STRAIGHT),
        (filtering(FIRST, "1", "eth0"), RETURNS),
    ],
)
def test_what_lets_answers_in(here: Node, there: Node) -> None:
    """No filter, a loose one, answers by the same device, and a filter on the other device."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")

    assert converse(node, PROBE).verdict == "ALWAYS"
