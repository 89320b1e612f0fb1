"""A pod's address has to be in the range of its bridge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.links.pod_outside_bridge import check
from podpath.net.addresses import IfName
from podpath.node.case import Case
from podpath.node.node import Node
from tests.checks.nodes import address, bridge, netns, node, pod


def made(range_of_bridge: str, *, bridged: bool = True) -> Node:
    """Make a node with a pod that has 10.0.1.5, and a bridge."""
    outer, inside = pod()
    port = replace(outer, master=IfName("cni0")) if bridged else outer
    return node(
        netns(links=[port, bridge("cni0")], addresses=[address("cni0", range_of_bridge)]), inside
    )


def test_an_address_of_another_range_is_told() -> None:
    """The pod's line comes first, the bridge's second."""
    (found,) = check(Case(node=made("10.244.0.1")))

    assert ["10.0.1.5", "10.244.0.1"] == [span.text.split()[1] for span in found.evidence]
    assert "10.244.0.0/24" in str(found.claim)


@pytest.mark.parametrize("sound", [made("10.0.1.1"), made("10.244.0.1", bridged=False)])
def test_a_pod_in_the_range_or_without_a_bridge_is_let_be(sound: Node) -> None:
    """A routed pod needs no bridge."""
    assert not list(check(Case(node=sound)))
