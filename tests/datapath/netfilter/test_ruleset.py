"""Tests for what is registered in a namespace, and in which order."""

from __future__ import annotations

import pytest

from podpath.datapath.netfilter.order import HOOK_ENTRIES, HOOKS
from podpath.datapath.netfilter.ruleset import Ruleset, ruleset
from podpath.datapath.tracing.exploration import Choices
from podpath.net.addresses import Address, Family
from podpath.node.netfilter import ConntrackEntry, ConnTuple, Netfilter
from tests.datapath.given import Sender, given, given_rules, with_netfilter

NAT = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")


def test_every_hook_lists_its_entries_in_order() -> None:
    """The table of entries is sorted as the kernel runs them."""
    for hook in HOOKS:
        priorities = [entry.priority for entry in HOOK_ENTRIES if entry.hook == hook]
        assert sorted(priorities) == priorities


def test_an_empty_base_chain_is_no_stage() -> None:
    """A table without rules costs a packet nothing."""
    empty = Ruleset(given(given_rules("INPUT -p tcp")).netns, 4)

    assert (0, 1) == (len(empty.stages["FORWARD"]), len(empty.stages["INPUT"]))


@pytest.mark.parametrize(
    ("text", "tracks"),
    [
        (NAT, True),
        (given_rules("FORWARD -m conntrack --ctstate NEW"), True),
        (given_rules("A -m state --state NEW", chains=("A",)), True),
        (given_rules("PREROUTING -j CT --zone 1", table="raw"), True),
        (given_rules("PREROUTING -j CT --notrack", table="raw"), False),
        (given_rules("POSTROUTING -j RETURN", table="nat"), False),
        (given_rules("FORWARD -j DROP"), False),
    ],
)
def test_conntrack_is_on_where_a_loaded_rule_needs_it(text: str, tracks: bool) -> None:  # noqa: FBT001  # a case
    """A rule that needs conntrack switches it on, even in a chain that nobody calls."""
    assert tracks is Ruleset(given(text).netns, 4).tracks


def test_conntrack_is_on_where_it_has_entries() -> None:
    """Entries of the family in the evidence show that something switched it on."""
    one, two = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")
    entry = ConntrackEntry(
        original=ConnTuple(one, two, 6, 1, 2), reply=ConnTuple(two, one, 6, 2, 1)
    )
    netns = given(conntrack=(entry,)).netns

    assert (True, False) == (Ruleset(netns, 4).tracks, Ruleset(netns, 6).tracks)


def test_nat_is_dispatched_at_all_its_hooks() -> None:
    """One nat chain brings the dispatcher to every hook of NAT, so that later packets are
    translated there.
    """
    stages = Ruleset(given(NAT).netns, 4).stages

    assert ["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"] == [
        hook for hook in HOOKS if any(type(stage).__name__ == "NatStage" for stage in stages[hook])
    ]


def test_a_ruleset_is_compiled_once_for_a_node() -> None:
    """All walks that share an engine share the compiled tables."""
    sender = Sender(given(NAT))

    assert ruleset(sender.walk, sender.given.netns, 4) is ruleset(
        sender.walk, sender.given.netns, 4
    )


def test_what_the_evidence_leaves_out_is_assumed_empty() -> None:
    """Tables that may exist are named in an assumption with the command that shows them."""
    choices = Choices()
    sender = Sender(with_netfilter(given(), Netfilter(ask="iptables-save -c")), choices)
    ruleset(sender.walk, sender.given.netns, 4)

    assert [("raw, mangle, nat, filter, security: taken to be empty", "iptables-save -c")] == [
        (assumption.meaning, assumption.ask) for assumption in choices.made
    ]


@pytest.mark.parametrize(("family", "program"), [(4, "iptables"), (6, "ip6tables")])
def test_tables_that_are_left_out_are_told_by_their_program(family: Family, program: str) -> None:
    """What is missing of IPv6 is for ip6tables to show."""
    sender = Sender(given(NAT, family=family, complete=False))
    ruleset(sender.walk, sender.given.netns, family)

    assert [made.fact.split()[0] for made in sender.walk.choices.made] == [program]
