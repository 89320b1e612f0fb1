"""Tests of routes that a cut listing does not show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.netns.fib import NO_ROUTE, FlowKey
from podpath.datapath.routing.assumed import is_slave, likeliest_uplinks, look_up
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

FLOW = FlowKey(ip("203.0.113.5"))


def test_a_whole_listing_means_what_it_lists() -> None:
    """Without a route in a whole listing there is none, and nothing is asked."""
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24")))

    assert (NO_ROUTE, []) == (look_up(walk.choices, host(walk), FLOW), walk.choices.made)


@pytest.mark.parametrize(("answer", "device"), [(0, "eth0"), (1, "")])
def test_a_cut_listing_may_hold_a_default_route(answer: int, device: str) -> None:
    """Where the listing is cut the walk takes a default route on the uplink, or that there is
    none.
    """
    walk = given_walk(
        given_node(given_netns("host", "lxc1 kind veth", "eth0 192.0.2.2/24", complete=False)),
        answer,
    )
    found = look_up(walk.choices, host(walk), FLOW)

    assert device == (found.nexthops[0].link if found.nexthops else "")
    assert ["route to 203.0.113.5 in netns host"] == [made.fact for made in walk.choices.made]


def test_a_route_that_fits_holds_even_in_a_cut_listing() -> None:
    """What is found is taken: nothing is asked about routes that might be more specific."""
    walk = given_walk(
        given_node(given_netns("host", "eth0", routes=["203.0.113.0/24 dev eth0"], complete=False))
    )

    assert ("eth0", []) == (
        look_up(walk.choices, host(walk), FLOW).nexthops[0].link,
        walk.choices.made,
    )


def test_nothing_known_at_all() -> None:
    """Without any device the default route is on one that the evidence does not show."""
    walk = given_walk(given_node(given_netns("host", complete=False)))

    assert "(uplink)" == look_up(walk.choices, host(walk), FLOW).nexthops[0].link


def test_uplinks_are_the_devices_that_lead_out() -> None:
    """Bridges, veths, tunnels, slaves and devices that are down are no uplinks; those with
    addresses come first.
    """
    devices = (
        "cni0 bridge 10.1.0.1/24", "lxc1 kind veth", "flannel.1 vni 1", "eth2", "eth0 192.0.2.2/24",
        "eth1 slave bond1", "eth3 down", "eth4 master br0",
    )  # fmt: skip
    walk = given_walk(given_node(given_netns("host", *devices)))

    assert ["eth0", "eth2"] == [link.name for link in likeliest_uplinks(host(walk))]
    assert [True, True, False] == [
        is_slave(host(walk), host(walk).link(name)) for name in ("eth1", "eth4", "eth0")
    ]


def test_a_pod_has_its_only_device() -> None:
    """In a pod the default route is on its device, a veth though it is."""
    walk = given_walk(
        given_node(given_netns("pod", "eth0 10.1.0.2/24 peer host:lxc1", complete=False))
    )

    assert ["eth0"] == [link.name for link in likeliest_uplinks(walk.engine.namespace("pod"))]


@pytest.mark.parametrize(
    ("target", "command"),
    [("203.0.113.5", "ip route get 203.0.113.5"), ("fd00::5", "ip -6 route get fd00::5")],
)
def test_the_question_for_a_route_is_of_its_family(target: str, command: str) -> None:
    """Whoever runs it gets the answer that the walk needs."""
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24", complete=False)))
    look_up(walk.choices, host(walk), FlowKey(ip(target)))

    assert [command] == [made.ask for made in walk.choices.made]


@pytest.mark.parametrize(("answer", "device"), [(0, "eth1"), (1, "eth0")])
def test_a_route_with_words_that_nobody_knows_counts_or_does_not(answer: int, device: str) -> None:
    """Likelier it does, as the rest of its line says."""
    netns = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "eth1",
        routes=["default via 192.0.2.1 dev eth0", "203.0.113.0/24 dev eth1"],
    )
    routes = tuple(
        replace(route, unread="frobnicate 7") if str(route.prefix).startswith("203") else route
        for route in netns.routes.items
    )
    walk = given_walk(
        given_node(replace(netns, routes=netns.routes._replace(items=routes))), answer
    )

    assert device == look_up(walk.choices, host(walk), FLOW).nexthops[0].link
