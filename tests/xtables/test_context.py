"""Tests for what a match knows of its rule."""

from __future__ import annotations

from podpath.net.provenance import Source, Span
from podpath.xtables.context import RuleContext, SetLookup, always, compile_options
from podpath.xtables.rule import Match, MatchOption, Rule
from podpath.xtables.seen import Doubt, Surroundings


class NoSets:
    """No set is known."""

    def lookup(
        self,
        name: str,
        directions: tuple[str, ...],
        state: Surroundings,
        *,
        return_nomatch: bool = False,
    ) -> bool | None:
        """Know nothing."""


SETS: SetLookup = NoSets()
RULE = Rule("nat", "PREROUTING", 3, Span(Source(name="toy", lines=("",)), 1, 1), None)


def test_a_rule_is_named_as_no_other() -> None:
    """Family, table, chain, position, flavor and namespace; and the command that shows it."""
    context = RuleContext(RULE, "red", 6, "legacy", SETS)

    assert "ip6tables nat PREROUTING rule 3 (legacy) in netns red" == context.where
    assert "ip6tables -t nat -nvL PREROUTING --line-numbers" == context.show


def test_an_unknown_option_is_a_doubt() -> None:
    """Of two options one is unknown: the other is compiled all the same."""
    context = RuleContext(RULE, "red", 4, "nft", SETS)
    match = Match("toy", (MatchOption("known"), MatchOption("strange", ("1",), negated=True)))
    known, strange = compile_options(match, context, {"known": lambda _, __: always(True)})

    assert known(None) is True  # type: ignore[arg-type]  # it looks at nothing
    doubt = strange(None)  # type: ignore[arg-type]  # as above
    assert isinstance(doubt, Doubt)
    assert doubt.fact.startswith("-m toy ! --strange 1 (an unknown option)")
