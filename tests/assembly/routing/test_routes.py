"""Routes of all tables, and commands that change them."""

from __future__ import annotations

from podpath.net.addresses import Prefix
from podpath.node.case import Case
from podpath.node.routing import LOCAL, MAIN
from tests.assembly.evidence_text import (
    alternative_of,
    case_of_document,
    spell_route,
)


def test_routes_of_all_tables(recorded: Case) -> None:
    """`ip route show table all` gives every table by its number, with the routes in their order."""
    routes = recorded.node.host.routes.items
    assert [spell_route(route) for route in routes if route.table == 100] == [
        "10.88.0.0/16 via 192.168.9.2 dev ens4"
    ]
    main = [
        spell_route(route) for route in routes if route.table == MAIN and route.prefix.family == 4
    ]
    assert main == [
        "default via 192.168.9.1 dev ens4",
        "10.88.3.0/24 dev cni0",
        "10.88.4.9 dev lxcab12",
        "192.168.9.0/24 dev ens4",
    ]
    local = [
        route
        for route in routes
        if route.table == LOCAL and route.prefix == Prefix.parse("192.168.9.6")
    ]
    assert [(route.type, str(route.prefsrc)) for route in local] == [("local", "192.168.9.5")]
    assert not any(route.inferred for route in routes)


def test_route_deleted_after_it_was_listed() -> None:
    """The node has the route, as things failed with it; the alternative is the node after the
    deletion.
    """
    case = case_of_document("""
    ```
    root@n1:~# ip route
    default via 10.1.0.1 dev eth0
    169.254.0.0/16 dev eth1 scope link metric 1002
    root@n1:~# ip route del 169.254.0.0/16 dev eth1
    ```
    """)
    assert len(case.node.host.routes.items) == 2
    other = alternative_of(case, "routes")
    assert [spell_route(route) for route in other.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0"
    ]
    assert other.good
    assert other.meaning == "after `ip route del 169.254.0.0/16 dev eth1` at ticket.md:5"


def test_route_deleted_before_it_was_listed() -> None:
    """A listing below the deletion lacks the route; before it the route was there."""
    case = case_of_document("""
    ```
    root@n1:~# route del -net 169.254.0.0 netmask 255.255.0.0 dev eth1
    root@n1:~# ip route
    default via 10.1.0.1 dev eth0
    ```
    """)
    assert [spell_route(route) for route in case.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0", "169.254.0.0/16 dev eth1",
    ]  # fmt: skip
    assert "names it" in str(case.node.host.routes.items[1].inferred)
