"""What the API says of nodes."""

from __future__ import annotations

from podpath.checks.node_ranges import addresses_of, follow_ranges, ranges_of
from podpath.checks.objects import see
from podpath.net.addresses import Address
from podpath.testing.nodes import given_netns, given_node
from tests.checks.api import case_with, node_object

SINGLE = "- kind: Node\n  metadata: {name: old}\n  spec: {podCIDR: 10.244.9.0/24}"
NOTED = node_object(
    "b",
    "192.0.2.2",
    "10.244.1.0/24, fd00:1::/64",
    ", annotations: {projectcalico.org/IPv4Address: 198.51.100.2/24}",
)


def test_ranges_and_addresses() -> None:
    """Lists of ranges and single ones, addresses and those that plugins chose."""
    case = case_with(given_node(), NOTED, SINGLE)
    named = [(one.node, str(one.prefix)) for one in ranges_of(case)]

    assert named == [("b", "10.244.1.0/24"), ("b", "fd00:1::/64"), ("old", "10.244.9.0/24")]
    assert addresses_of(see(case, "Node")[0]) == {
        Address.parse("192.0.2.2"),
        Address.parse("198.51.100.2"),
    }


def test_routes_that_follow_ranges() -> None:
    """Only whole ranges of other nodes, by no protocol of another plugin."""
    routes = [
        "10.244.1.0/24 via 192.0.2.2 dev eth0",
        "10.244.9.0/25 via 192.0.2.9 dev eth0",
        "10.244.9.0/24 via 192.0.2.9 dev eth0 proto bird",
    ]
    node = given_node(given_netns("host", "eth0 192.0.2.1/24", routes=routes))
    case = case_with(node, NOTED, SINGLE)

    assert [one.of.node for one in follow_ranges(case, ranges_of(case))] == ["b"]
