"""Tests of what a route leads to."""

from __future__ import annotations

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.destinations import destination_of, select_path
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_walk, host


def test_a_destination_has_all_that_the_route_says() -> None:
    """Device, gateway, source, MTU and line come from the route, else from the device."""
    routes = ("10.1.0.0/16 via 192.0.2.9 dev eth0 mtu 1400 src 192.0.2.2", "10.2.0.0/16 dev eth0")
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24 mtu 9000", routes=routes)))
    first, second = (
        select_path(
            walk.choices, host(walk), host(walk).routing(4).lookup(FlowKey(ip(dst))), None, ip(dst)
        )
        for dst in ("10.1.0.1", "10.2.0.1")
    )

    assert ("unicast", ip("192.0.2.9"), ip("192.0.2.2"), 1400, routes[0]) == (
        first.type, first.gateway, first.prefsrc, first.mtu, first.spans[0].text,
    )  # fmt: skip
    assert (None, ip("192.0.2.2"), 9000) == (second.gateway, second.prefsrc, second.mtu)


def test_a_destination_is_made_once() -> None:
    """The same route, nexthop and rule give the same object."""
    walk = given_walk(
        given_node(given_netns("host", "eth0 192.0.2.2/24", routes=["10.1.0.0/16 dev eth0"]))
    )
    found = host(walk).routing(4).lookup(FlowKey(ip("10.1.0.1")))

    assert destination_of(host(walk), found, found.nexthops[0]) is destination_of(
        host(walk), found, found.nexthops[0]
    )
