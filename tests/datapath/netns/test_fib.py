"""Tests of one routing table's lookup."""

from __future__ import annotations

import pytest

from podpath.datapath.netns.fib import NO_ROUTE, FibResult, FibTable, explain_error
from podpath.datapath.reasons.near import DeviceUnusable, LaterAmongEquals, MetricLoses
from podpath.datapath.reasons.routes import NoRoute, PolicyRuleRefuses, RouteRefuses
from podpath.testing.nodes import given_route, given_rule, ip


def look(
    dst: str, *routes: str, tos: int = 0, oif: str | None = None, down: frozenset[str] = frozenset()
) -> FibResult:
    """Look a destination up in a table of these routes."""
    return FibTable(4, map(given_route, routes)).lookup(ip(dst).value, tos, oif, down) or NO_ROUTE


def line(found: FibResult) -> str:
    """Return the words of the route that was found."""
    return found.spans[0].text if found.spans else found.error


@pytest.mark.parametrize(
    ("dst", "wins"),
    [
        ("10.1.2.3", "10.1.2.0/24 dev b"),
        ("10.1.9.9", "10.1.0.0/16 dev a"),
        ("8.8.8.8", "default via 192.0.2.1 dev eth0"),
        ("10.1.2.4", "10.1.2.4 dev c"),
    ],
)
def test_longest_prefix_wins(dst: str, wins: str) -> None:
    """The route with the longest prefix is taken, wherever it stands in the listing."""
    routes = (
        "default via 192.0.2.1 dev eth0",
        "10.1.0.0/16 dev a",
        "10.1.2.4 dev c",
        "10.1.2.0/24 dev b",
    )

    assert wins == line(look(dst, *routes))


def test_no_route() -> None:
    """Without a route that fits there is none."""
    assert "ENETUNREACH" == line(look("10.2.0.1", "10.1.0.0/16 dev a"))


def test_lowest_metric_wins_and_the_losers_are_named() -> None:
    """Among equal prefixes the lowest metric wins; the others are near misses that say why."""
    found = look(
        "169.254.169.254",
        "169.254.0.0/16 dev mgnt metric 1007",
        "169.254.0.0/16 dev eth1 metric 1002",
    )

    assert "169.254.0.0/16 dev eth1 metric 1002" == line(found)
    assert [MetricLoses(1007, 1002)] == [miss.reason for miss in found.near]


def test_first_of_equals_wins() -> None:
    """Among routes that are equal in all that counts the first listed wins."""
    found = look("10.1.0.1", "10.1.0.0/16 dev a", "10.1.0.0/16 dev b")

    assert ("10.1.0.0/16 dev a", LaterAmongEquals()) == (line(found), found.near[0].reason)


@pytest.mark.parametrize(
    ("tos", "wins"),
    [(0x10, "10.0.0.0/8 dev b tos 0x10"), (0, "10.0.0.0/8 dev a"), (0x08, "10.0.0.0/8 dev a")],
)
def test_tos_is_preferred_where_it_fits(tos: int, wins: str) -> None:
    """A route with a TOS comes first, for packets with that TOS alone."""
    assert wins == line(look("10.1.1.1", "10.0.0.0/8 dev a", "10.0.0.0/8 dev b tos 0x10", tos=tos))


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("blackhole", "EINVAL"),
        ("unreachable", "EHOSTUNREACH"),
        ("prohibit", "EACCES"),
        ("throw", "EAGAIN"),
    ],
)
def test_error_types_end_the_lookup(kind: str, error: str) -> None:
    """A route of an error type ends the lookup with its own error number."""
    assert error == look("10.1.1.1", f"{kind} 10.1.0.0/16", "10.0.0.0/8 dev a").error


def test_asked_device_leaves_other_routes_out() -> None:
    """A lookup for one device passes over better routes on others."""
    assert "10.0.0.0/8 dev b" == line(
        look("10.1.1.1", "10.1.0.0/16 dev a", "10.0.0.0/8 dev b", oif="b")
    )


def test_dead_and_ignored_nexthops_do_not_count() -> None:
    """A dead nexthop never counts, one without carrier only where such routes are not ignored."""
    routes = (
        "10.1.0.0/16 nexthop dev a dead nexthop dev b linkdown nexthop dev c",
        "10.0.0.0/8 dev d",
    )

    assert ["b", "c"] == [hop.link for hop in look("10.1.1.1", *routes).nexthops]
    assert ["c"] == [hop.link for hop in look("10.1.1.1", *routes, down=frozenset({"b"})).nexthops]


def test_route_without_usable_nexthop_is_passed_over() -> None:
    """Where no nexthop of the best route is usable the next best one is taken, and the near miss
    says so.
    """
    found = look("10.1.1.1", "10.1.0.0/16 dev a dead metric 1", "10.1.0.0/16 dev b metric 2")

    assert ("10.1.0.0/16 dev b metric 2", DeviceUnusable()) == (line(found), found.near[0].reason)


def test_errors_are_explained() -> None:
    """An error names the route's type, the policy rule, or that there is no route."""
    dst = ip("10.1.1.1")
    refused = FibResult("EACCES", None, (), given_rule("100: prohibit"))

    assert [RouteRefuses(dst, "blackhole"), PolicyRuleRefuses(dst, 100), NoRoute(dst)] == [
        explain_error(dst, found)
        for found in (look("10.1.1.1", "blackhole 10.0.0.0/8"), refused, NO_ROUTE)
    ]
