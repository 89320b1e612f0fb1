"""What each command of iptables-restore does to a table, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.assembly.planned.tables import assemble_tables
from podpath.evidence.planned.files import read_change
from podpath.evidence.planned.restore import RestoreRecord
from podpath.net.provenance import Known, Source
from podpath.node.change import PutTable
from podpath.node.netfilter import Netfilter, Table
from podpath.node.node import Netns
from podpath.testing.nodes import given_netns

BEFORE = """\
*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:A - [0:0]
:B - [0:0]
:E - [0:0]
-A INPUT -j A
-A A -s 10.0.0.1/32 -j ACCEPT
-A A -s 10.0.0.2/32 -j ACCEPT
-A A -p tcp -m tcp --dport 80 -j ACCEPT
-A B -s 10.0.0.9/32 -j DROP
COMMIT
"""


def restore(
    namespace: Netns, *lines: str, flavour: str = "legacy", noflush: bool = True
) -> tuple[PutTable, list[str]]:
    """Return table filter after a block, and what of it is refused."""
    text = ("*filter", *lines, "COMMIT")
    read = read_change(Source(name="s", lines=text))
    assert read is not None
    assert () == read.reading.gaps
    records = [one for one in read.reading.records if isinstance(one, RestoreRecord)]
    (change,), gaps = assemble_tables(records, namespace, flavour, noflush=noflush)
    return change, [gap.why for gap in gaps]


def given_before(flavour: str = "legacy", *, whole: bool = True) -> Netns:
    """Return a namespace with rules."""
    lines = BEFORE.splitlines()[1:-1]
    change, _ = restore(given_netns("host"), *lines, flavour=flavour, noflush=False)
    table = change.table
    if not whole:
        chains = {
            name: Known(replace(fact.value, complete=False, in_line=1), fact.span)
            for name, fact in table.chains.items()
            if isinstance(fact, Known)
        }
        table = replace(table, chains=chains, complete=False)
    return replace(given_netns("host"), netfilter={4: Netfilter(tables=(table,), complete=True)})


def rules(table: Table, chain: str) -> list[str]:
    """Return the sources, or else the targets, of a chain's rules."""
    fact = table.chains[chain]
    assert isinstance(fact, Known)
    assert [place for place, _ in enumerate(fact.value.rules, 1)] == [
        rule.position for rule in fact.value.rules
    ]
    return [
        str(rule.src.prefix.address)[-1] if rule.src else rule.target.name if rule.target else ""
        for rule in fact.value.rules
    ]


@pytest.mark.parametrize(
    ("lines", "chain", "left"),
    [
        (["-I A -s 10.0.0.7 -j DROP"], "A", ["7", "1", "2", "ACCEPT"]),
        (["-I A 4 -s 10.0.0.7 -j DROP"], "A", ["1", "2", "ACCEPT", "7"]),
        (["-A A -j B"], "A", ["1", "2", "ACCEPT", "B"]),
        (["-D A 2"], "A", ["1", "ACCEPT"]),
        (["-D A -s 10.0.0.1 -j ACCEPT"], "A", ["2", "ACCEPT"]),
        (["-D A -p tcp --dport 80 -j ACCEPT"], "A", ["1", "2"]),
        (["-R A 1 -s 10.0.0.8 -j DROP"], "A", ["8", "2", "ACCEPT"]),
        (["-F A", "-A A -s 10.0.0.7 -j DROP"], "A", ["7"]),
        (["-F"], "INPUT", []),
        ([":A - [0:0]"], "A", []),
        (["-N C", "-A C -j DROP", "-A A -j C"], "C", ["DROP"]),
        (["-X E", "-N E"], "E", []),
        (["-C A -s 10.0.0.1 -j ACCEPT", "-Z", "-Z A"], "A", ["1", "2", "ACCEPT"]),
        (["-F", "-X", "-N A"], "A", []),
        (["-E A C"], "INPUT", ["C"]),
        (["--rename-chain A C"], "C", ["1", "2", "ACCEPT"]),
        (["-E A C", "-A C -j B", "-N A"], "C", ["1", "2", "ACCEPT", "B"]),
    ],
)
def test_commands_change_the_table(lines: list[str], chain: str, left: list[str]) -> None:
    """One after the other."""
    change, refused = restore(given_before(), *lines)

    assert [] == refused
    assert left == rules(change.table, chain)


def test_a_policy_is_that_of_the_line() -> None:
    """And the walk quotes it."""
    change, refused = restore(given_before(), "-P INPUT ACCEPT")
    fact = change.table.chains["INPUT"]

    assert [] == refused
    assert isinstance(fact, Known)
    assert "ACCEPT" == fact.value.policy
    assert "-P INPUT ACCEPT" == (fact.value.span.text if fact.value.span else "")


@pytest.mark.parametrize(
    "line",
    [
        "-A NOPE -j DROP",
        "-A A -j NOPE",
        "-A A -j A",
        "-A OUTPUT -i eth0 -j DROP",
        "-I INPUT -o eth0 -j DROP",
        "-A A -j MASQUERADE",
        "-C A -s 10.0.0.77 -j ACCEPT",
        "-D A 0",
        "-D A 4",
        "-D A -s 10.0.0.77 -j ACCEPT",
        "-D A -p tcp --dport http -j ACCEPT",
        "-F NOPE",
        "-I A 0 -j DROP",
        "-I A 5 -j DROP",
        "-E A B",
        "-E A A",
        "-E A ACCEPT",
        "-E A LOG",
        "-E INPUT C",
        "-E NOPE C",
        "-N A",
        "-N ACCEPT",
        "-N LOG",
        "-N abcdefghijklmnopqrstuvwxyz123",
        "-P A DROP",
        "-P INPUT RETURN",
        "-R A 4 -j DROP",
        "-X",
        "-X A",
        "-X B",
        "-X INPUT",
        "-X NOPE",
        "-Z NOPE",
        ":A DROP [0:0]",
        ":ACCEPT - [0:0]",
    ],
)
@pytest.mark.parametrize("flavour", ["nft", "legacy"])
def test_what_fails_is_refused(line: str, flavour: str) -> None:
    """A rule that nobody can tell apart among them."""
    change, refused = restore(given_before(flavour), line, flavour=flavour)

    assert 1 == len(refused)
    assert "A" in change.table.chains


@pytest.mark.parametrize(
    "lines",
    [
        ["-A B -s 10.0.0.7 -j DROP", "-R B 2 -s 10.0.0.8 -j DROP"],
        ["-P INPUT ACCEPT", "-Z"],
        [":INPUT ACCEPT [0:0]", "-F", "-X"],
        ["-F A", "-A A -j DROP", "-I A 2 -j ACCEPT"],
        [":A - [0:0]", "-A A -s 10.0.0.1 -j ACCEPT", "-D A -s 10.0.0.1 -j ACCEPT"],
        ["-Z FORWARD"],
        ["-E A C", "-A C -j DROP"],
        ["-E A C", "-A B -j C"],
        ["-N C", "-E C D"],
    ],
)
def test_what_iptables_nft_does_otherwise_is_refused(lines: list[str]) -> None:
    """The legacy program does as it is told."""
    legacy = restore(given_before("legacy"), *lines)[1]
    nft = restore(given_before("nft"), *lines, flavour="nft")[1]

    assert ([], 1) == (legacy, len(nft))


@pytest.mark.parametrize(
    "line",
    [
        "-D A 2",
        "-D A -s 10.0.0.2 -j ACCEPT",
        "-I A 2 -j DROP",
        "-E A C",
        "-N C",
        "-R A 2 -j DROP",
        "-X E",
        "-A A -j C",
        "-F C",
        "-F",
    ],
)
def test_of_a_listing_that_is_cut_only_its_head_is_known(line: str) -> None:
    """What lies behind nobody can tell, nor which chains there are; flushing them all is the same
    for every one.
    """
    _, refused = restore(given_before(whole=False), line)

    assert (0 if line == "-F" else 1) == len(refused)


def test_the_head_of_a_cut_listing_can_be_changed() -> None:
    """Its first rule is the first rule."""
    change, refused = restore(given_before(whole=False), "-D A 1", "-I A -s 10.0.0.7 -j DROP")

    assert [] == refused
    assert "7" == rules(change.table, "A")[0]


def test_a_second_declaration_is_refused_by_the_legacy_program() -> None:
    """Unless it runs with `--noflush`."""
    lines = (":A - [0:0]", ":A - [0:0]")

    assert [] == restore(given_before(), *lines)[1]
    assert 1 == len(restore(given_before(), *lines, noflush=False)[1])


def test_a_rule_that_is_gone_knows_the_line_that_took_it() -> None:
    """Whether it was deleted, replaced, flushed or declared away."""
    change, _ = restore(given_before(), "-D A 1", "-R A 1 -j DROP", "-F B")

    assert [
        ("-A A -s 10.0.0.1/32 -j ACCEPT", "-D A 1"),
        ("-A A -s 10.0.0.2/32 -j ACCEPT", "-R A 1 -j DROP"),
        ("-A B -s 10.0.0.9/32 -j DROP", "-F B"),
    ] == [(rule.text, line.text) for rule, line in change.replaced]
