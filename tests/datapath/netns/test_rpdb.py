"""Tests of policy rules and the order in which tables are asked."""

from __future__ import annotations

from typing import Any

import pytest

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.testing.nodes import given_netns, ip

MAIN = "default via 192.0.2.1 dev eth0"
OTHER = "default via 198.51.100.1 dev eth1 table 100"


def look(*rules: str, routes: tuple[str, ...] = (), dst: str = "10.9.9.9", **flow: Any) -> str:  # noqa: ANN401  # fields of Flow
    """Look a flow up in a namespace with these rules; give the route's words, or the error."""
    netns = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "eth1 198.51.100.2/24",
        rules=rules,
        routes=[MAIN, OTHER, *routes],
    )
    found = Namespace(netns, {}).routing(4).lookup(FlowKey(ip(dst), **flow))
    return found.error or found.spans[0].text


@pytest.mark.parametrize(
    ("rule", "flow"),
    [
        ("from 10.1.0.0/16", {"src": ip("10.1.0.5")}),
        ("to 10.9.0.0/16", {}),
        ("iif lxc1", {"iif": "lxc1"}),
        ("iif lo", {"iif": "lo"}),
        ("oif eth1", {"oif": "eth1"}),
        ("fwmark 0x1/0xff", {"mark": 0x301}),
        ("tos 0x10", {"tos": 0x10}),
        ("ipproto tcp dport 80-90", {"protocol": 6, "dport": 85}),
        ("sport 1000", {"sport": 1000}),
        ("uidrange 1000-1010", {"uid": 1005}),
    ],
)
def test_every_selector_chooses_the_table(rule: str, flow: dict[str, Any]) -> None:
    """A rule whose selector fits sends the flow to its table; one that misses leaves it to main."""
    assert OTHER == look(f"100: {rule} lookup 100", **flow)
    if not rule.startswith(("to", "iif lo", "oif")):
        assert MAIN == look(f"100: {rule} lookup 100")


@pytest.mark.parametrize("tos", [0, 0x08, 0x18])
def test_a_rule_of_one_tos_leaves_all_others(tos: int) -> None:
    """Lower ones as higher ones."""
    assert MAIN == look("100: tos 0x10 lookup 100", tos=tos)


def test_negated_rule_matches_what_its_selectors_miss() -> None:
    """`not` turns the whole rule round."""
    rule = "100: not from 10.1.0.0/16 lookup 100"

    assert (OTHER, MAIN) == (look(rule, src=ip("10.2.0.1")), look(rule, src=ip("10.1.0.1")))


def test_rules_are_tried_by_priority() -> None:
    """The lower number comes first, however the rules are listed."""
    assert OTHER == look("200: lookup main", "100: lookup 100")


@pytest.mark.parametrize(
    ("action", "error"),
    [("unreachable", "ENETUNREACH"), ("prohibit", "EACCES"), ("blackhole", "EINVAL")],
)
def test_rules_that_refuse(action: str, error: str) -> None:
    """A rule may refuse by itself."""
    assert error == look(f"100: to 10.9.0.0/16 {action}")


def test_goto_and_nop() -> None:
    """`goto` goes on at the first rule of that priority; `nop` decides nothing."""
    assert OTHER == look("100: goto 300", "200: blackhole", "300: nop", "301: lookup 100")


def test_goto_nowhere_goes_on() -> None:
    """A `goto` whose target does not exist is passed over, and a loop of them ends."""
    assert MAIN == look("100: goto 150")


def test_throw_goes_on_with_the_next_rule() -> None:
    """A `throw` route ends only its own table's lookup."""
    assert MAIN == look("100: lookup 100", routes=("throw 10.9.0.0/16 table 100",))


def test_suppressed_prefix_length_goes_on() -> None:
    """A rule that suppresses short prefixes lets a default route of its table go (wg-quick,
    kube-router).
    """
    rules = ("100: lookup main suppress_prefixlength 0", "101: lookup 100")

    assert OTHER == look(*rules)
    assert "10.9.0.0/16 dev eth0" == look(*rules, routes=("10.9.0.0/16 dev eth0",))


def test_own_addresses_come_before_rules() -> None:
    """The local table has priority 0: own addresses stay local whatever further rules say."""
    netns = given_netns("host", "eth0 192.0.2.2/24", rules=["100: lookup 100"], routes=[OTHER])

    assert "local" == Namespace(netns, {}).routing(4).lookup(FlowKey(ip("192.0.2.2"))).type


@pytest.mark.parametrize(
    ("rules", "winner"), [((), "unicast"), (("100: from 10.0.0.1 lookup 100",), "local")]
)
def test_local_and_main_share_a_trie_until_there_are_rules(
    rules: tuple[str, ...], winner: str
) -> None:
    """Without rules of its own a namespace takes the longest prefix of local and main together;
    with them local comes first.
    """
    netns = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        rules=rules,
        routes=["local 10.0.0.0/8 dev lo table local", "10.9.0.0/16 dev eth0"],
    )

    assert winner == Namespace(netns, {}).routing(4).lookup(FlowKey(ip("10.9.9.9"))).type


def test_no_rule_leads_anywhere() -> None:
    """Where no table has a route the answer is ENETUNREACH."""
    netns = given_netns("host", rules=["100: lookup 100"])

    assert "ENETUNREACH" == Namespace(netns, {}).routing(4).lookup(FlowKey(ip("10.9.9.9"))).error


def test_rule_line_is_evidence() -> None:
    """The policy rule's line stands beside the route's, except for the three that every namespace
    has.
    """
    netns = given_netns("host", rules=["100: lookup 100"], routes=[OTHER])
    found = Namespace(netns, {}).routing(4).lookup(FlowKey(ip("10.9.9.9")))

    assert [OTHER, "100: lookup 100"] == [span.text for span in found.spans]


@pytest.mark.parametrize("value", ["0", "1"])
def test_routes_without_carrier(value: str) -> None:
    """`ignore_routes_with_linkdown` decides whether a route without carrier counts."""
    sysctls = {"net.ipv4.conf.all.ignore_routes_with_linkdown": value}
    netns = given_netns(
        "host",
        "eth0",
        "eth1",
        routes=["10.0.0.0/8 dev eth0 linkdown", "default dev eth1"],
        sysctls=sysctls,
    )
    routing = Namespace(netns, {}).routing(4)

    assert ("eth1" if value == "1" else "eth0") == routing.lookup(FlowKey(ip("10.1.1.1"))).nexthops[
        0
    ].link
    assert "eth0" == routing.lookup(FlowKey(ip("10.1.1.1")), ignore_linkstate=True).nexthops[0].link


def test_vrf_rule_matches_no_device_outside_a_vrf() -> None:
    """An `l3mdev` rule is passed over: no device of the model is in a VRF."""
    assert MAIN == look("100: l3mdev lookup 100")
