"""Scripts for nft -f: the tables that are there after one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.assembly.planned.scripts import assemble_script
from podpath.evidence.nft.script import read_script
from podpath.net.provenance import Listing, Source
from podpath.node.alteration import apply_change
from podpath.node.netfilter import Netfilter, Table
from podpath.node.nftables_text import emit_rule
from podpath.node.node import Netns
from podpath.testing.nodes import given_netns, given_node
from podpath.xtables.legality import TableFlavour, TableName

EMPTY = given_netns("host", netns={"nftables": Listing((), True, "nft -a list ruleset")})
BASE = (
    "table inet t { chain c { type filter hook forward priority 0; policy accept;"
    " ip saddr 1.1.1.1 drop; }; set s { type ipv4_addr; elements = { 10.0.0.1 }; }; }"
)


def run(namespace: Netns, *lines: str) -> tuple[Netns, list[str]]:
    """Return a namespace after a script, and why some of it is refused."""
    read = read_script(Source(name="s", lines=lines))
    change, gaps = assemble_script(read.records, namespace)
    node = apply_change(given_node(namespace), change)
    return node.host, [gap.why for gap in (*read.gaps, *gaps)]


def rules(namespace: Netns, chain: str = "c") -> list[str]:
    """Return the rules of a chain of the first table."""
    return [emit_rule(rule) for rule in namespace.nftables.items[0].chains[chain].rules]


def given_base() -> Netns:
    """Return a namespace with a table."""
    namespace, refused = run(EMPTY, BASE)
    assert not refused
    return namespace


def test_a_block_adds_to_what_is_there() -> None:
    """A chain is not made anew: rules are appended, and the policy is the block's."""
    after, refused = run(
        given_base(),
        "table inet t { chain c { type filter hook forward priority 0; policy drop; accept; }; }",
    )

    assert [] == refused
    assert ["ip saddr 1.1.1.1 drop", "accept"] == rules(after)
    assert "drop" == after.nftables.items[0].chains["c"].policy


def numbered(namespace: Netns) -> Netns:
    """Return a namespace whose rules have handles, from 7 on."""
    (table,) = namespace.nftables.items
    chains = {
        name: replace(
            chain,
            rules=tuple(rule._replace(handle=number) for number, rule in enumerate(chain.rules, 7)),
        )
        for name, chain in table.chains.items()
    }
    listing = Listing((replace(table, chains=chains),), True, "nft -a list ruleset")
    return replace(namespace, nftables=listing)


def test_rules_are_named_by_their_handles_and_places() -> None:
    """As `nft -a list ruleset` numbers them, and as they stand in the chain."""
    base, _ = run(given_base(), "add rule inet t c drop")
    held = numbered(base)
    first, second = rules(held)
    for line, expected in (
        ("delete rule inet t c handle 7", [second]),
        ("replace rule inet t c handle 8 accept", [first, "accept"]),
        ("add rule inet t c handle 7 accept", [first, "accept", second]),
        ("add rule inet t c position 7 accept", [first, "accept", second]),
        ("insert rule inet t c handle 8 accept", [first, "accept", second]),
        ("insert rule inet t c index 0 accept", ["accept", first, second]),
        ("add rule inet t c index 1 accept", [first, second, "accept"]),
    ):
        after, refused = run(held, line)
        assert (refused, rules(after)) == ([], expected), line


def test_a_number_above_a_replacement_is_not_taken_over() -> None:
    """The program forgets it, unless another number stands below."""
    other = "table inet t { chain d { drop; }; }"
    base, _ = run(given_base(), "add rule inet t c drop", other)
    number, replaced = "add rule inet t c index 0 accept", "replace rule inet t d handle 7 accept"
    why = "index 0 stands above a command that replaces a rule, which is not modeled"

    assert [why] == run(numbered(base), number, replaced)[1]
    assert [] == run(numbered(base), replaced, number)[1]
    assert [] == run(numbered(base), number, replaced, number)[1]


def test_several_rules_are_deleted_by_their_handles() -> None:
    """As a script does that somebody wrote by a listing."""
    base, _ = run(given_base(), "add rule inet t c drop", "add rule inet t c accept")
    script = ("delete rule inet t c handle 7", "delete rule inet t c handle 9")
    after, refused = run(numbered(base), *script)

    assert (refused, rules(after)) == ([], ["drop"])
    assert len(run(numbered(base), *script, script[0])[1]) == 2


def test_a_handle_that_no_rule_has_is_refused() -> None:
    """As nft does, where the handles are shown; else nobody can tell, nor can anybody where the
    same script removed rules before.
    """
    held = numbered(given_base())
    for namespace, script, why in (
        (held, "delete rule inet t c handle 99", "chain c has no handle 99"),
        (held, "add rule inet t c index 5 drop", "chain c has no rule 5"),
        (given_base(), "delete rule inet t c handle 7", "no output shows the handles"),
        (
            held,
            "flush chain inet t c; add rule inet t c handle 7 drop",
            "in a script that removes it or others",
        ),
    ):
        _, refused = run(namespace, *script.split("; "))
        assert len(refused) == 1
        assert why in refused[0]


def test_rules_are_inserted_appended_and_flushed() -> None:
    """Each where its command says."""
    base = given_base()
    both, _ = run(base, "insert rule inet t c accept", "add rule inet t c drop")
    none, _ = run(base, "flush chain inet t c")
    table, _ = run(base, "flush table inet t")

    assert ["accept", "ip saddr 1.1.1.1 drop", "drop"] == rules(both)
    assert [] == rules(none) == rules(table)
    assert [1, 2, 3] == [rule.position for rule in both.nftables.items[0].chains["c"].rules]


def test_elements_come_and_go() -> None:
    """Of a set that is there."""
    after, refused = run(
        given_base(), "add element inet t s { 10.0.0.2 }", "delete element inet t s { 10.0.0.1 }"
    )

    assert [] == refused
    assert 1 == len(after.nftables.items[0].sets["s"].elements)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("delete table inet u", "there is no table inet u"),
        ("add rule inet t d drop", "there is no chain d"),
        ("flush chain inet t d", "there is no chain d"),
        ("add element inet t n { 1 }", "there is no set n"),
        ("add chain inet t c { type filter hook input priority 0; }", "c stands at forward"),
        ("add chain inet t c { type filter hook forward priority 5; }", "c stands at forward"),
        ("add table inet v { counter n { } }", "counters, quotas"),
    ],
)
def test_what_nft_refuses_or_nobody_models_is_said(line: str, why: str) -> None:
    """By name."""
    _, refused = run(given_base(), line)

    assert any(why in one for one in refused)


def test_destroying_what_is_not_there_is_nothing() -> None:
    """As nft's destroy does."""
    assert [] == run(given_base(), "destroy table inet u")[1]


def test_flushing_takes_what_iptables_nft_made_too() -> None:
    """It is one ruleset to the kernel; what the legacy program made stays."""
    tables = tuple(
        Table(name=TableName.FILTER, family=4, flavour=flavour, chains={})
        for flavour in TableFlavour
    )
    held = Netfilter(tables=tables, complete=True)
    after, refused = run(replace(given_base(), netfilter={4: held}), "flush ruleset")

    assert [] == refused
    assert ["legacy"] == [table.flavour for table in after.netfilter[4].tables]
    assert () == after.nftables.items


def test_both_languages_in_one_table_are_refused() -> None:
    """Rules of nft in a table of iptables-nft are not modeled."""
    held = Netfilter(
        tables=(Table(name=TableName.FILTER, family=4, flavour=TableFlavour.NFT, chains={}),),
        complete=True,
    )
    _, refused = run(replace(EMPTY, netfilter={4: held}), "add rule ip filter FORWARD drop")

    assert "iptables-nft's" in refused[0]
