"""Tests for base chains that the evidence leaves out, while it shows what they must lead to."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from podpath.datapath.netfilter.roots import MOST_RULES, find_roots
from podpath.datapath.tracing.exploration import Choices
from podpath.net.provenance import Known, Option, Unknown
from podpath.node.netfilter import Chain, Netfilter, Table
from podpath.xtables.legality import TableFlavour, TableName
from tests.datapath.given import (
    Given,
    Sender,
    every_branch,
    given,
    given_rules,
    given_tables,
    tcp,
    with_netfilter,
)


def shown(*rules: str, chains: Iterable[str], table: str = "filter") -> Table:
    """Return a table of which the evidence shows these user chains only."""
    whole = given_tables(given_rules(*rules, table=table, chains=chains), complete=False)[0]
    kept = {name: whole.chains[name] for name in chains}
    return Table(
        name=TableName(table), family=4, flavour=TableFlavour.NFT, chains=kept, complete=False
    )


def node_of(table: Table) -> Given:
    """Return a node with that part of a table."""
    return with_netfilter(given(), Netfilter(tables=(table,), complete=False))


KUBE = ("KUBE-FORWARD -p tcp -j DROP", "KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT")


def test_a_chain_named_after_a_hook_is_likely_called_there() -> None:
    """KUBE-FORWARD alone drops a forwarded packet, likely, and is no concern of INPUT."""
    node = node_of(shown(*KUBE, chains=("KUBE-FORWARD",)))
    choices = Choices()
    sender = Sender(node, choices)

    assert "Drop" == type(sender.send(sender.skb(tcp()), "FORWARD")).__name__
    assert {"Accept", "Drop"} == every_branch(node, tcp(), "FORWARD")
    assert {"Accept"} == every_branch(node, tcp(), "INPUT")
    assert "FORWARD of iptables table filter (nft) in netns host leads to chain KUBE-FORWARD" in [
        assumption.fact for assumption in choices.made
    ]


def test_a_chain_without_a_telling_name_likely_is_not_called() -> None:
    """It may be called from any base chain of its table, and both ways are walked."""
    node = node_of(shown("MY-RULES -p tcp -j DROP", chains=("MY-RULES",)))
    sender = Sender(node)

    assert "Accept" == type(sender.send(sender.skb(tcp()), "FORWARD")).__name__
    assert {"Accept", "Drop"} == every_branch(node, tcp(), "FORWARD")


@pytest.mark.parametrize(
    ("rule", "hooks"),
    [
        ("KUBE-SERVICES -j DNAT --to-destination 10.0.0.1", {"PREROUTING", "OUTPUT"}),
        ("KUBE-SERVICES -j REDIRECT --to-ports 1", {"PREROUTING", "OUTPUT"}),
        ("KUBE-SERVICES -j MASQUERADE", {"POSTROUTING"}),
        ("KUBE-SERVICES -j SNAT --to-source 10.0.0.1", {"POSTROUTING", "INPUT"}),
        ("KUBE-SERVICES -j KUBE-SEP", {"PREROUTING", "OUTPUT"}),
    ],
)
def test_targets_say_where_a_chain_can_be_called_from(rule: str, hooks: set[str]) -> None:
    """The kernel lets DNAT be reached from PREROUTING and OUTPUT only, MASQUERADE from POSTROUTING
    only.
    """
    table = shown(
        rule, "KUBE-SEP -j DNAT --to-destination 10.0.0.1", "KUBE-SEP -j KUBE-SERVICES",
        chains=("KUBE-SERVICES",) if "KUBE-SEP" not in rule else ("KUBE-SERVICES", "KUBE-SEP"),
        table="nat",
    )  # fmt: skip
    if "KUBE-SEP" in rule:
        sep = table.chains["KUBE-SEP"]
        assert isinstance(sep, Known)
        only = Known(Chain(name="KUBE-SEP", rules=tuple(sep.value.rules[:1])))
        table = Table(
            name=TableName.NAT,
            family=4,
            flavour=TableFlavour.NFT,
            chains={**table.chains, "KUBE-SEP": only},
            complete=False,
        )

    found = {
        hook: [(root.name, root.likely) for root in find_roots(table, hook)]
        for hook in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING")
    }
    assert {hook: [("KUBE-SERVICES", True)] if hook in hooks else [] for hook in found} == found


def test_a_chain_that_is_called_is_no_root() -> None:
    """Only what no shown rule leads to is looked for elsewhere."""
    table = shown("KUBE-FORWARD -j A", "A -j DROP", chains=("KUBE-FORWARD", "A"))

    assert ["KUBE-FORWARD"] == [root.name for root in find_roots(table, "FORWARD")]


def test_a_whole_table_has_no_roots() -> None:
    """Where everything is shown, a chain that nobody calls is never reached."""
    table = given_tables(given_rules("KUBE-FORWARD -j DROP", chains=("KUBE-FORWARD",)))[0]
    bare = Table(
        name=TableName.FILTER,
        family=4,
        flavour=TableFlavour.NFT,
        chains={"KUBE-FORWARD": table.chains["KUBE-FORWARD"]},
    )

    assert () == find_roots(bare, "FORWARD")
    assert () == find_roots(table, "FORWARD")


def test_empty_chains_and_other_hooks_are_passed_over() -> None:
    """A chain without rules does nothing wherever it is called; nat has no FORWARD."""
    assert () == find_roots(shown(chains=("KUBE-FORWARD",)), "FORWARD")
    assert () == find_roots(shown("A -j ACCEPT", chains=("A",), table="nat"), "FORWARD")


def test_a_huge_listing_is_not_searched() -> None:
    """Up to its bound it is."""

    def found(count: int) -> int:
        rules = ["KUBE-FORWARD -p tcp -j DROP"] * count
        return len(find_roots(shown(*rules, chains=("KUBE-FORWARD",)), "FORWARD"))

    assert (1, 0) == (found(MOST_RULES), found(MOST_RULES + 1))


def test_of_a_disputed_chain_the_likeliest_text_counts() -> None:
    """Where two outputs disagree about what it holds."""
    names = ("A", "B")
    table = shown(
        "A -j DNAT --to-destination 10.0.0.1", "B -j MASQUERADE", chains=names, table="nat"
    )
    texts = [fact.value for name in names if isinstance(fact := table.chains[name], Known)]
    for first, second, hook in ((0, 1, "OUTPUT"), (1, 0, "POSTROUTING")):
        options = (Option(texts[first], "before"), Option(texts[second], "after"))
        disputed = Table(
            name=TableName.NAT,
            family=4,
            flavour=TableFlavour.NFT,
            chains={"A": Unknown("chain A", "iptables -S A", options)},
            complete=False,
        )
        found = [
            name
            for name in ("OUTPUT", "POSTROUTING")
            if any(root.likely for root in find_roots(disputed, name))
        ]

        assert [hook] == found


def test_a_base_chain_that_is_not_shown_may_hold_rules_before_the_jump() -> None:
    """What is concluded by the jump takes for granted that none of them matches."""
    sender = Sender(node_of(shown(*KUBE, chains=("KUBE-FORWARD",))))
    sender.send(sender.skb(tcp()), "FORWARD")
    (step,) = (step for step in sender.walk.trace.steps if step.decision == "drop")

    assert any("chain FORWARD" in made.fact for made in step.assumed)
