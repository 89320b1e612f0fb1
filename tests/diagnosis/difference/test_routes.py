"""Routes and policy rules of two nodes: what is told to differ, and the commands that even it
out.
"""

from __future__ import annotations

import pytest

from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.routes import compare_routing
from podpath.node.routing import PolicyRule
from podpath.testing.nodes import given_netns, given_node

ROUTE = "10.0.0.0/8 dev eth0"


def differing(here: list[str], there: list[str], kind: str = "routes") -> list[Difference]:
    """Return what differs between hosts with these routes or rules."""
    one, other = (
        given_node(
            given_netns("host", "eth0", "eth1", rules=words)
            if kind == "rules"
            else given_netns("host", "eth0", "eth1", routes=words)
        )
        for words in (here, there)
    )
    return list(compare_routing(one, other))


def test_a_route_that_only_one_node_has_is_added_or_deleted() -> None:
    """The line quoted is that of the node that has it."""
    more = "10.1.0.0/16 via 10.0.0.1 dev eth0"
    (missing,) = differing([ROUTE], [ROUTE, more])
    (extra,) = differing([ROUTE, more], [ROUTE])

    assert ("ip route add 10.1.0.0/16 via 10.0.0.1 dev eth0",) == missing.commands
    assert ((), 1) == (missing.here, len(missing.there))
    assert ("ip route del 10.1.0.0/16 via 10.0.0.1 dev eth0",) == extra.commands
    assert (1, ()) == (len(extra.here), extra.there)


def test_a_route_that_goes_elsewhere_is_one_difference() -> None:
    """It is told once, replaced by two commands; with another metric it is another route."""
    (turned,) = differing([ROUTE], ["10.0.0.0/8 dev eth1"])

    assert (
        "ip route del 10.0.0.0/8 dev eth0",
        "ip route add 10.0.0.0/8 dev eth1",
    ) == turned.commands
    assert 2 == len(differing([ROUTE], ["10.0.0.0/8 dev eth1 metric 7"]))
    assert 2 == len(differing([ROUTE], ["10.0.0.0/8 dev eth1 table 7"]))


def test_each_route_is_paired_once() -> None:
    """Of two routes to one prefix by TOS, each has its own counterpart."""
    here = ["10.0.0.0/8 tos 0x4 dev eth0", "10.0.0.0/8 tos 0x8 dev eth0"]
    there = [words.replace("eth0", "eth1") for words in here]

    assert [2, 2] == [len(each.commands) for each in differing(here, there)]


@pytest.mark.parametrize(
    "made", ["broadcast 10.0.0.255/32 dev eth0", "10.0.3.0/24 dev eth0 proto kernel"]
)
def test_what_an_address_makes_is_no_difference_of_its_own(made: str) -> None:
    """The address is what differs."""
    assert [] == differing([ROUTE], [ROUTE, made])


def test_a_type_is_spelled_unless_it_is_unicast() -> None:
    """As `ip route` reads it back."""
    (difference,) = differing([ROUTE], [ROUTE, "unreachable 10.9.0.0/16"])

    assert ("ip route add unreachable 10.9.0.0/16",) == difference.commands


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("100: from 10.1.0.0/16 lookup 200", "priority 100 from 10.1.0.0/16 lookup 200"),
        (
            "7: to 10.2.0.0/16 iif eth0 lookup main",
            "priority 7 to 10.2.0.0/16 iif eth0 lookup main",
        ),
        ("9: oif eth1 fwmark 0x1 prohibit", "priority 9 oif eth1 fwmark 0x1 prohibit"),
    ],
)
def test_policy_rules_are_added_and_deleted(rule: str, command: str) -> None:
    """Each with its selectors, and the table by name where it is main."""
    ((_, added),) = [(each.words, each.commands) for each in differing([], [rule], "rules")]
    ((words, deleted),) = [(each.words, each.commands) for each in differing([rule], [], "rules")]

    assert (f"ip rule add {command}",) == added
    assert (f"ip rule del {command}",) == deleted
    assert f"the policy rule {command} is absent where it works" == words


def test_rules_of_ipv6_are_changed_by_their_own_command() -> None:
    """`ip -6 rule`."""
    six = PolicyRule(family=6, priority=100, table=200)
    plain = PolicyRule(family=6, priority=5, table=254)
    bare, ruled = (
        given_netns(
            "host",
            netns={"rules": given_netns("host").rules._replace(items=(plain, *items))},
        )
        for items in ((), (six,))
    )
    (difference,) = compare_routing(given_node(bare), given_node(ruled))

    assert ("ip -6 rule add priority 100 lookup 200",) == difference.commands
