"""Several outputs of one listing."""

from __future__ import annotations

from tests.assembly.evidence_text import (
    Output,
    alternative_of,
    case_of,
    spell_route,
)


def test_two_routing_tables() -> None:
    """Two whole tables are two states of the node: of the failing one, and of the good host."""
    bad = "default via 10.1.0.1 dev eth0\n169.254.0.0/16 dev eth1 scope link metric 1002"
    case = case_of(
        Output("ip route", bad),
        Output("ip route", "default via 10.1.0.1 dev eth0", label="The same on a node that works:"),
    )
    assert [spell_route(route) for route in case.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0", "169.254.0.0/16 dev eth1 metric 1002",
    ]  # fmt: skip
    other = alternative_of(case, "routes of table main")
    assert [spell_route(route) for route in other.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0"
    ]
    assert other.good
    assert case.contradictions == ()


def test_repeated_lines_of_one_table_merge() -> None:
    """The same routes as `route -n` and as `ip route` print them are the same routes, with what
    either shows.
    """
    case = case_of(
        Output(
            "route -n",
            (
                "Destination Gateway Genmask Flags Metric Ref Use Iface\n"
                "10.1.0.0 0.0.0.0 255.255.0.0 U 0 0 0 eth0"
            ),
        ),
        Output("ip route", "10.1.0.0/16 dev eth0 proto kernel scope link src 10.1.0.9"),
    )
    assert case.alternatives == ()
    (route,) = case.node.host.routes.items
    assert (str(route.prefsrc), route.protocol) == ("10.1.0.9", "kernel")


def test_fragment_that_holds_more_than_the_whole() -> None:
    """Lines that the whole listing lacks show another state; the one that stands first is
    likeliest.
    """
    case = case_of(
        Output("ip route | grep 169", "169.254.0.0/16 dev eth1 scope link metric 1002"),
        Output("ip route", "default via 10.1.0.1 dev eth0"),
    )
    assert len(case.node.host.routes.items) == 2
    other = alternative_of(case, "routes of table main")
    assert [spell_route(route) for route in other.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0"
    ]
