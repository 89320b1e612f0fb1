"""What a match or target knows of the rule it stands in when it is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from podpath.net.addresses import Family
from podpath.xtables.rule import Match, MatchOption, Rule, Target, spell
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings, TargetAct


class SetLookup(Protocol):
    """The sets of a namespace."""

    def lookup(
        self,
        name: str,
        directions: tuple[str, ...],
        state: Surroundings,
        *,
        return_nomatch: bool = False,
    ) -> bool | None:
        """Tell whether the packet is in the set; None where the evidence does not say."""


class RuleContext(NamedTuple):
    """Where a rule stands."""

    rule: Rule
    netns: str
    family: Family
    flavour: str
    sets: SetLookup

    @property
    def where(self) -> str:
        """Name the rule so that no other rule of the node has the name."""
        command = "iptables" if self.family == 4 else "ip6tables"
        rule = self.rule
        return (
            f"{command} {rule.table} {rule.chain} rule {rule.position} ({self.flavour}) in netns "
            f"{self.netns}"
        )

    @property
    def show(self) -> str:
        """Return the command that prints the rule's chain with its counters."""
        command = "iptables" if self.family == 4 else "ip6tables"
        return f"{command} -t {self.rule.table} -nvL {self.rule.chain} --line-numbers"


MatchCompiler = Callable[[Match, RuleContext], tuple[Check, ...]]
"""Compiles a match to one check for each of its options, or to a single one for all of them."""
TargetCompiler = Callable[[Target, RuleContext], TargetAct]
OptionCompiler = Callable[[MatchOption, RuleContext], Check]


def compile_options(
    match: Match, context: RuleContext, compilers: Mapping[str, OptionCompiler]
) -> tuple[Check, ...]:
    """Compile a match whose options are conditions of their own, all of which have to hold."""
    if not match.options:
        return ()
    return tuple(
        compilers[option.name](option, context)
        if option.name in compilers
        else unknown_option(match.name, option, context)
        for option in match.options
    )


def unknown_option(extension: str, option: MatchOption, context: RuleContext) -> Check:
    """Answer that an option which nobody here knows decides."""
    return doubtful(
        f"-m {extension} {spell(option)} (an unknown option) at {context.where} matches",
        context,
        likely=False,
    )


def doubtful(
    fact: str, context: RuleContext, *, likely: bool, negated: bool = False, random: bool = False
) -> Check:
    """Make a check that gives the same doubt for every packet."""
    return always(Doubt(fact, likely, "" if random else context.show, random, negated))


def always(answer: Answer) -> Check:
    """Make a check that gives the same answer for every packet."""
    return lambda _: answer
