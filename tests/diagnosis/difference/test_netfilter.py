"""iptables, sets and nftables of two nodes: what is told to differ, and the commands for it."""

from __future__ import annotations

from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.netfilter import compare_netfilter
from podpath.diagnosis.difference.nodes import take_over
from podpath.net.provenance import Listing
from podpath.node.netfilter import IpSet, Netfilter, SetMember
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.nftables import native_tables


def ruled(*tables: str, complete: bool = True, sets: tuple[IpSet, ...] = ()) -> Node:
    """Return a host with tables as iptables-save prints them."""
    found = tuple(table for text in tables for table in given_tables(text))
    rules = Netfilter(tables=found, complete=complete, sets={each.name: each for each in sets})
    return given_node(given_netns("host", netns={"netfilter": {4: rules}}))


def differing(here: Node, there: Node) -> list[Difference]:
    """Return what differs."""
    return list(compare_netfilter(here, there))


def commands(here: Node, there: Node) -> list[tuple[str, ...]]:
    """Return the commands that even it out."""
    return [each.commands for each in differing(here, there)]


DROP, LOG, ACCEPT = (f"FORWARD -p tcp -j {target}" for target in ("DROP", "LOG", "ACCEPT"))


def test_rules_are_inserted_and_deleted_where_they_stand() -> None:
    """A rule that is missing goes in at its number; a moved one goes out and in again."""
    one, both = ruled(given_rules(ACCEPT)), ruled(given_rules(ACCEPT, DROP))
    turned = ruled(given_rules(DROP, ACCEPT))

    assert [("iptables -t filter -I FORWARD 2 -p tcp -j DROP",)] == commands(one, both)
    assert [("iptables -t filter -D FORWARD -p tcp -j DROP",)] == commands(both, one)
    ((out, back),) = commands(both, turned)
    assert out.replace("-D", "-I").split()[:5] == back.split()[:5]
    assert "-D" in out


def test_the_lines_of_both_nodes_are_quoted() -> None:
    """Of a rule that only one node has, that node's line."""
    one, both = ruled(given_rules(ACCEPT)), ruled(given_rules(ACCEPT, DROP))
    ((missing,), (extra,)) = differing(one, both), differing(both, one)

    assert ([], [f"-A {DROP}"]) == quoted(missing)
    assert ([f"-A {DROP}"], []) == quoted(extra)


def quoted(difference: Difference) -> tuple[list[str], list[str]]:
    """Return the lines of both nodes."""
    return [span.text for span in difference.here], [span.text for span in difference.there]


def test_user_chains_come_along_with_their_callers() -> None:
    """A user chain that is missing is no difference of its own, and does not end the comparison."""
    jump = given_rules("A -j DROP", DROP, chains=["A"])
    found = differing(ruled(given_rules()), ruled(jump))

    assert [True] == ["DROP (rule 1 of FORWARD" in each.words for each in found]


def test_a_table_in_part_lacks_nothing() -> None:
    """Unless the evidence lists every table, one that it does not show may be there."""
    mangled = ruled(given_rules("FORWARD -j DROP", table="mangle"))

    assert [] == differing(ruled(complete=False), mangled)
    assert ["rule"] == [each.kind for each in differing(ruled(), mangled)]


def test_policies_are_set() -> None:
    """Of each base chain that both show, or that this node lacks and so has as ACCEPT."""
    accept, drop = (ruled(given_rules(policy=policy)) for policy in ("ACCEPT", "DROP"))
    words = [each.words for each in differing(accept, drop)]

    assert "the policy of FORWARD in filter is ACCEPT here, and DROP where it works" in words
    assert ("iptables -t filter -P FORWARD DROP",) in commands(accept, drop)
    assert [] == differing(drop, drop)


def allowed(*members: str, complete: bool = True) -> Node:
    """Return a host with a set."""
    held = tuple(SetMember((text,)) for text in members)
    return ruled(
        sets=(IpSet(name="allowed", type="hash:ip", family=4, members=held, complete=complete),)
    )


def test_sets_differ_by_their_members() -> None:
    """How many it lacks and has too many; a set that is listed in part differs from none."""
    one, two, other = allowed("10.0.0.1"), allowed("10.0.0.1", "10.0.0.2"), allowed()
    words = [
        [each.words.removeprefix("compared with where it works, ") for each in differing(*pair)]
        for pair in ((one, two), (two, one), (other, two), (one, one))
    ]

    assert [
        ["the set allowed lacks 1 member"],
        ["the set allowed has 1 extra"],
        ["the set allowed lacks 2 members"],
        [],
    ] == words
    assert [] == differing(allowed("10.0.0.9", complete=False), two)
    assert [] == differing(two, allowed("10.0.0.9", complete=False))
    assert [] == differing(ruled(), two)


def native(*texts: str, complete: bool = True) -> Node:
    """Return a host with tables of nftables."""
    held = tuple(table for text in texts for table in native_tables(text))
    listing = Listing(items=held, complete=complete, ask="nft list ruleset")
    return given_node(given_netns("host", netns={"nftables": listing}))


TABLE = (
    "table inet %s {\n\tchain f {\n\t\ttype filter hook forward priority 0; policy drop;\n\t}\n}\n"
)


def test_native_tables_are_deleted_where_the_good_node_has_none() -> None:
    """One that is missing has no single command; listings in part lack nothing."""
    bare, tabled = native(), native(TABLE % "fw")
    ((extra,), (missing,)) = differing(tabled, bare), differing(bare, tabled)

    assert ("nft delete table inet fw",) == extra.commands
    assert ((), True) == (missing.commands, missing.can_be_taken)
    assert [] == differing(native(complete=False), tabled)
    assert [] == differing(tabled, native(complete=False))
    assert [] == differing(tabled, tabled)


def test_a_chain_that_nothing_calls_hides_no_other() -> None:
    """A user chain comes with the rule that calls it; the policies behind it are compared."""
    forward = "*filter\n:AAA - [0:0]\n:FORWARD {} [0:0]\nCOMMIT"
    here = ruled(forward.replace(":AAA - [0:0]\n", "").format("DROP"))

    assert [("iptables -t filter -P FORWARD ACCEPT",)] == commands(
        here, ruled(forward.format("ACCEPT"))
    )


def test_a_rule_brings_the_chains_that_it_calls_at_any_depth() -> None:
    """Whatever rules stand before the jump, and though a listing may show chains in a circle."""
    rules = ("FORWARD -p tcp -j A", "A -j ACCEPT", "A -j B", "B -j A")
    here, there = ruled(given_rules()), ruled(given_rules(*rules, chains=("A", "B")))
    made = take_over(here, tuple(differing(here, there)))

    assert {"A", "B"} <= made.host.netfilter[4].tables[0].chains.keys()
