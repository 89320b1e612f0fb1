"""Tests for the table of extensions: every option that iptables has is known, and nothing unknown
matches silently.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.datapath.netfilter.state import Check, Doubt, HookState
from podpath.datapath.sets.ipsets import Sets
from podpath.datapath.vocabulary import Hook
from podpath.datapath.xtables.registry import (
    MATCHES,
    compile_match,
    compile_target,
    is_target,
)
from podpath.evidence.iptables import options as xtables_options
from podpath.node.netfilter import Match, MatchOption, Target
from podpath.xtables.context import RuleContext
from podpath.xtables.registry import TARGETS
from tests.datapath.given import Sender, given, given_rules, given_tables, tcp

EXAMPLES = (Path(__file__).parents[2] / "data" / "xtables" / "matches.rules").read_text(
    encoding="utf-8"
)
"""Each option of each match, as some rule spells it."""

RENAMED = frozenset({("set", "set"), ("icmpv6", "icmpv6-type")})
"""Older names of what has another one by now."""


def context() -> RuleContext:
    """Say where a rule stands."""
    chain = given_tables(given_rules("FORWARD -j DROP"))[0].chains["FORWARD"]
    return RuleContext(chain.value.rules[0], "host", 4, "nft", Sets({}))  # type: ignore[union-attr]  # a known chain


def answers(checks: tuple[Check, ...]) -> list[bool | Doubt]:
    """Ask all checks about a packet."""
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(), oif="eth0"), Hook.FORWARD)
    return [check(state) for check in checks]


def example_matches() -> list[Match]:
    """Return the matches of all examples."""
    chain = given_tables(EXAMPLES)[0].chains["FORWARD"]
    return [match for rule in chain.value.rules for match in rule.matches]  # type: ignore[union-attr]  # a known chain


def spelled(match: Match) -> set[tuple[str, str]]:
    """Return a match's options, as iptables knows them."""
    options = {(match.name, option.name) for option in match.options}
    return options | ({("tcp", "syn")} if ("tcp", "tcp-flags") in options else set())


def test_the_examples_name_every_option_of_every_match() -> None:
    """What the readers know of iptables' options is what the examples show."""
    known = {
        (name, option) for name, options in xtables_options.MATCHES.items() for option in options
    }
    aliases = {
        (name, f"{end}-port{plural}")
        for name, _ in known
        for end in ("source", "destination")
        for plural in ("", "s")
    }
    shown = {pair for match in example_matches() for pair in spelled(match)}

    assert set() == known - shown - aliases - RENAMED


@pytest.mark.parametrize(
    "match", example_matches(), ids=lambda match: f"{match.name}-{len(match.options)}"
)
def test_every_option_is_understood(match: Match) -> None:
    """No example is an unknown match, an unknown option or a value that is not understood."""
    compiled = compile_match(match, context())
    facts = [answer.fact for answer in answers(compiled) if isinstance(answer, Doubt)]

    assert [] == [fact for fact in facts if "unknown" in fact or "expected" in fact]


@pytest.mark.parametrize("name", sorted(MATCHES))
def test_a_strange_option_never_matches_silently(name: str) -> None:
    """An option that a match does not have leaves a doubt, which likely does not match."""
    if name == "comment":
        return
    found = answers(compile_match(Match(name, (MatchOption("frobnicate", ("7",)),)), context()))

    assert any(isinstance(answer, Doubt) and not answer.likely for answer in found)


@pytest.mark.parametrize(
    "match",
    [
        Match("frob"),
        Match("mark", (MatchOption("mark", ("many",)),)),
        Match("mark", (MatchOption("mark"),)),
        Match("conntrack", (MatchOption("ctstate", ("OLD",)),)),
        Match("tcp", (MatchOption("dport", ("http",)),)),
        Match("tcp", (MatchOption("dport", ("70000",)),)),
        Match("tcp", (MatchOption("tcp-flags", ("SYN",)),)),
        Match("statistic", (MatchOption("mode", ("random",)),)),
        Match("set", (MatchOption("match-set", ("x", "left")),)),
        Match("iprange", (MatchOption("src-range", ("fd00::1",)),)),
        Match("addrtype", (MatchOption("dst-type", ("NEAR",)),)),
        Match("recent"),
    ],
)
def test_what_is_not_understood_is_a_doubt(match: Match) -> None:
    """Unknown matches and values that make no sense may match, and likely do not."""
    (answer,) = answers(compile_match(match, context()))

    assert isinstance(answer, Doubt)
    assert not answer.likely
    assert "FORWARD rule 1" in answer.fact


def test_every_target_of_iptables_is_known() -> None:
    """Each has a module, changes nothing, or is named as one that cannot be followed."""
    assert set() == {name for name in xtables_options.TARGETS if not is_target(name)}


@pytest.mark.parametrize(
    "name", sorted(name for name, target in TARGETS.items() if not target.effect)
)
def test_a_target_with_a_strange_option_forks(name: str) -> None:
    """A target that is not understood may do anything, and says which rule it is."""
    act = compile_target(Target(name, (MatchOption("frobnicate", ("7",)),)), context())

    assert act is not None


@pytest.mark.parametrize("name", sorted(name for name, target in TARGETS.items() if target.effect))
def test_silent_targets_do_nothing(name: str) -> None:
    """They compile to nothing at all, whatever their options."""
    assert compile_target(Target(name, (MatchOption("prefix", ("x",)),)), context()) is None


def test_a_set_that_gives_marks_is_not_silent() -> None:
    """SET takes a packet's mark from a set where it is told to."""
    assert (
        compile_target(
            Target("SET", (MatchOption("map-set", ("x", "src")), MatchOption("map-mark"))),
            context(),
        )
        is not None
    )
