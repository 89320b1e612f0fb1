"""Rules that are read when they are first asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.iptables.ruleset_lines import (
    BlockChains,
    RuleLines,
    Wrap,
    read_rule,
    scan_chains,
)
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule
from tests.netfilter_strategies import rules

SOURCE = Source(
    name="rules",
    first_line=11,
    lines=(
        ":INPUT DROP [5:300]",
        ":WEB - [0:0]",
        "[1:2] -A INPUT -j WEB",
        "-A WEB -j ACCEPT",
        "-A WEB -m comment --comment",
        '"b" -j DROP',
    ),
)


def test_well_formed_rules_are_told_from_other_lines() -> None:
    """Each line gives the chain of its rule, or nothing."""
    assert scan_chains([
        *SOURCE.lines, "COMMIT", "", '-A X -m comment --comment "open -j ACCEPT', "-A X -j A B",
    ]) == [
        "", "", "INPUT", "WEB", "", "", "", "", "", "",
    ]  # fmt: skip


@given(st.lists(st.one_of(rules().map(emit_rule), st.text(max_size=40)), max_size=8))
def test_a_scanned_rule_is_one(lines: list[str]) -> None:
    """What passes as well-formed has a chain and a target, and no option without its value."""
    single = [line.replace("\n", " ") for line in lines]
    for line, chain in zip(single, scan_chains(single), strict=True):
        if chain:
            read = read_rule(line, Span(SOURCE, 1, 1))
            assert (read.chain, read.target is None) == (chain, False)


@given(rules(chain="A"))
def test_rules_as_iptables_prints_them_are_scanned(rule: Rule) -> None:
    """The quick pass takes rules with a target unless they hold free text or fragments."""
    line = emit_rule(rule)
    plain = rule.target is not None and rule.fragment is None and "--log-prefix" not in line
    if plain and all(
        option.name != "comment" or option.values[0].isalnum()
        for match in rule.matches
        for option in match.options
    ):
        assert scan_chains([line]) == ["A"]


def test_lines_are_read_one_by_one() -> None:
    """A sequence of lines gives rules with spans of the file, and counts without reading."""
    lines = RuleLines(SOURCE, (2, 3, 4), {4: Wrap(5, " ")})

    assert len(lines) == 3
    assert [rule.span.line for rule in lines] == [13, 14, 15]
    assert lines[2].span.last_line == 16
    assert [rule.target.name for rule in lines[1:] if rule.target] == ["ACCEPT", "DROP"]
    assert (lines[0].packets, lines[0].bytes) == (1, 2)


def test_spellings_are_compared_without_counters() -> None:
    """Two outputs of one chain differ in what was counted meanwhile."""
    other = Source(name="later", lines=("[9:9] -A INPUT -j WEB", "-A WEB -j DROP"))

    assert RuleLines(SOURCE, (2,), {}).is_spelled_like(RuleLines(other, (0,), {}))
    assert not RuleLines(SOURCE, (3,), {}).is_spelled_like(RuleLines(other, (1,), {}))
    assert not RuleLines(SOURCE, (3,), {}).is_spelled_like(RuleLines(other, (0, 1), {}))


def test_chains_are_made_when_asked_for() -> None:
    """A mapping over declared chains and over chains of which only rules are there."""
    chains = BlockChains(
        SOURCE, {"INPUT": 0}, {"INPUT": [2], "WEB": [3]}, whole=True, cut=frozenset({"WEB"})
    )

    assert list(chains) == ["INPUT", "WEB"]
    assert len(chains) == 2
    assert "WEB" in chains
    assert "NONE" not in chains
    assert chains.get("NONE") is None
    assert (chains["INPUT"].policy, chains["INPUT"].packets, chains["INPUT"].whole) == (
        "DROP",
        5,
        True,
    )
    assert (chains["WEB"].span, chains["WEB"].policy, chains["WEB"].whole) == (None, None, False)


def test_lines_are_at_hand_unread() -> None:
    """Without counters, some of them by their places; not where a rule is no whole line."""
    whole = RuleLines(SOURCE, (2, 3), {})
    cut = RuleLines(SOURCE, (2, 3), {}, unfinished=3)
    wrapped = RuleLines(SOURCE, (4,), {4: Wrap(5, " ")})

    assert whole.spell() == ["-A INPUT -j WEB", "-A WEB -j ACCEPT"]
    assert [rule.span.line for rule in whole.pick([1])] == [14]
    assert (cut.spell(), wrapped.spell()) == (None, None)
    assert cut.pick([0]).spell() == ["-A INPUT -j WEB"]
