"""Tests of the routes that addresses imply."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.netns.derived import complete_routes
from podpath.net.provenance import Listing
from podpath.node.node import Netns
from podpath.node.routing import LOCAL, Route
from podpath.testing.nodes import given_netns, given_route


def implied(netns: Netns) -> set[str]:
    """Return the routes that were added, in words."""
    links = {str(link.name): link for link in netns.links.items}
    return {
        spell(route)
        for route in complete_routes(netns, links, 4)
        if route not in netns.routes.items
    }


def spell(route: Route) -> str:
    """Spell a route."""
    table = " table local" if route.table == LOCAL else ""
    return f"{route.type} {route.prefix} dev {route.nexthops[0].link}{table}"


def test_an_address_implies_its_local_and_broadcast_routes() -> None:
    """Without a listing of the local table every address has its local route, and every subnet its
    broadcast.
    """
    assert {
        "local 127.0.0.1 dev lo table local",
        "local 127.0.0.0/8 dev lo table local",
        "broadcast 127.255.255.255 dev lo table local",
        "local 10.0.0.1 dev eth0 table local",
        "broadcast 10.0.0.255 dev eth0 table local",
    } == implied(given_netns("host", "eth0 10.0.0.1/24"))


def test_an_incomplete_listing_gets_connected_routes() -> None:
    """Where routes may be missing an address implies its connected route too, unless it stands
    there or the device is down.
    """
    netns = given_netns(
        "host",
        "eth0 10.0.0.1/24",
        "eth1 10.1.0.1/24",
        "eth2 10.2.0.1/24 down",
        "lxc 10.3.0.1/32",
        complete=False,
    )
    netns = replace(
        netns, routes=Listing((given_route("10.1.0.0/24 dev eth1 metric 100"),), False, "ip route")
    )

    assert {"unicast 10.0.0.0/24 dev eth0"} == {
        words for words in implied(netns) if words.startswith("unicast")
    }


def test_a_listed_local_table_is_taken_as_it_is() -> None:
    """Once a route of the local table is listed none is added to it."""
    netns = given_netns("host", "eth0 10.0.0.1/24", routes=["local 10.0.0.1 dev eth0 table local"])

    assert set() == implied(netns)


def test_secondary_addresses_imply_only_themselves() -> None:
    """A secondary address adds its local route and nothing else."""
    found = implied(given_netns("host", "eth0 10.0.0.1/24 10.0.0.2/24"))

    assert "local 10.0.0.2 dev eth0 table local" in found
    assert 1 == sum("10.0.0.255" in words for words in found)


def test_addresses_of_lo_are_taken_as_they_are_listed() -> None:
    """Only where none is shown does it have 127.0.0.1, whatever other devices are called."""
    listed = implied(given_netns("host", "lo 127.0.0.1/8 10.9.9.9/32", "zz 10.0.0.1/24"))
    unlisted = implied(given_netns("host", "aa 10.0.0.1/24", "zz 10.1.0.1/24"))

    assert "local 10.9.9.9 dev lo table local" in listed
    assert 1 == sum("127.0.0.1 " in words for words in listed)
    assert "local 127.0.0.1 dev lo table local" in unlisted
