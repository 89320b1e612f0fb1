"""An address that two nodes hold."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.between.address_on_two_nodes import NAME
from podpath.net.addresses import Address, IfName
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Node
from podpath.testing.nodes import span
from tests.checks.between.walked import find, works
from tests.datapath.devices.test_underlay import tunneled


def holding(node: Node, address: str, *, secondary: bool = True) -> Node:
    """Return a node that has another address on its uplink, beside its own."""
    line = f"inet {address}/24 scope global secondary eth0"
    more = InterfaceAddress(
        link=IfName("eth0"),
        address=Address.parse(address),
        length=24,
        secondary=secondary,
        span=span(line),
    )
    held = node.host.addresses
    host = replace(node.host, addresses=held._replace(items=(*held.items, more)))
    return replace(node, namespaces={**node.namespaces, HOST: host})


def test_the_node_that_has_the_others_address_drops_what_it_sends() -> None:
    """The address that stands beside another is the one too many."""
    found = find(tunneled(0), holding(tunneled(1), "192.0.2.1"))

    assert found is not None
    assert found == (NAME, "b/host", "inet 192.0.2.1/24 scope global secondary eth0")


def test_an_address_beside_that_nobody_else_has() -> None:
    """A virtual address of one node alone is nothing."""
    pair = tunneled(0), holding(tunneled(1), "192.0.2.50")

    assert find(*pair) is None
    assert works(*pair)
