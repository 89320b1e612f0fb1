"""What an extension is: one value that the reader of rules, the model and the lab all take their
part of.

A module of `matches` or `targets` holds one extension: which options it has, how `iptables -L`
words it, which tables and hooks take it, what it asks of a packet or does to it, and what the lab
draws. It meets the packet and the host only as `xtables.seen` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.xtables.context import (
    MatchCompiler,
    OptionCompiler,
    RuleContext,
    TargetCompiler,
    compile_options,
)
from podpath.xtables.legality import ALL_HOOKS, ALL_TABLES
from podpath.xtables.nat_ranges import NatRange
from podpath.xtables.rule import Match, MatchOption
from podpath.xtables.seen import Check, PacketSeen, Surroundings, TargetAct
from podpath.xtables.wording import Form, ListedReader

Condition = Callable[[PacketSeen], bool]


class OptionMeaning(NamedTuple):
    """One option of a match or target."""

    read: Callable[[str], Condition] | None = None
    """Read the words of a match's option, as iptables-save spells them, to what it asks of the
    packet alone; `ValueError` where they are none of its values. None where `check` does it, or
    the extension reads all its options together.
    """
    draws: tuple[str, ...] = ()
    """Values that the lab draws; empty where it draws none."""
    negatable: bool = True
    """True where iptables takes `!` before it."""
    words: int = 1
    """How many words it takes."""
    save: Callable[[str], str] | None = None
    """Spell a word of `iptables -L` as iptables-save does; None where both spell it alike."""
    ports: bool = False
    """True where `iptables -L` may print services by name."""
    check: OptionCompiler | None = None
    """Compile an option that asks more than the packet."""


def make_options(
    *values: str,
    flags: Iterable[str] = (),
    pairs: Iterable[str] = (),
    ports: Iterable[str] = (),
    save: Mapping[str, Callable[[str], str]] | None = None,
) -> dict[str, OptionMeaning]:
    """Make options that their extension reads together: those with one word, with none, with two,
    and with a port; in the order of their names, so that a seed draws the same.
    """
    spelled = save or {}
    counted = {**dict.fromkeys(values, 1), **dict.fromkeys(flags, 0), **dict.fromkeys(pairs, 2)}
    made = {
        name: OptionMeaning(words=count, save=spelled.get(name)) for name, count in counted.items()
    }
    made |= {name: OptionMeaning(ports=True) for name in ports}
    return dict(sorted(made.items()))


class Draw(NamedTuple):
    """One way in which the lab draws an extension, and where it may stand."""

    options: tuple[MatchOption, ...] = ()
    protocol: int = 0
    """That of the rule; 0 for any."""
    chains: tuple[str, ...] = ()
    """Empty for every chain, user chains too."""
    tables: tuple[str, ...] = ()
    """Empty for every table."""
    beside: Match | None = None
    """What the kernel wants the rule to match, too."""


def draw(*texts: str, protocol: int = 0) -> Draw:
    """Make a draw of options, each as `name value value`."""
    spelled = [text.split() for text in texts]
    return Draw(tuple(MatchOption(name, tuple(values)) for name, *values in spelled), protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchExtension:
    """A match (`-m NAME`)."""

    name: str
    options: Mapping[str, OptionMeaning]
    """By their long names without dashes."""
    forms: tuple[Form, ...] = ()
    """How `iptables -L` words it."""
    listed: ListedReader | None = None
    """Make the options of a form's groups; None where each group is an option by name."""
    apart: bool = False
    """True where `iptables -L` prints each option as a text of its own."""
    tables: frozenset[str] = ALL_TABLES
    """The tables that take it."""
    compiler: MatchCompiler | None = None
    """Compile all options together; None where each is a condition of its own."""
    tracks: bool = False
    """True where a rule with it switches conntrack on in its namespace (`nf_ct_netns_get`)."""
    depends: str = ""
    """What its answer depends on, where that lies outside the model."""
    likely: bool = False
    """Whether it likely matches then."""
    draws: tuple[Draw, ...] = ()
    """What the lab draws now and then, beside the values of single options."""
    not_drawn: str = ""
    """Why no case of the lab has it."""

    @property
    def words(self) -> dict[str, int]:
        """Return how many words each option takes."""
        return {name: option.words for name, option in self.options.items()}

    @property
    def compile(self) -> MatchCompiler:
        """Return what compiles a match of it."""
        if self.compiler is not None:
            return self.compiler
        compilers = {name: _compiler_of(option) for name, option in self.options.items()}

        def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
            return compile_options(match, context, compilers)

        return compile_match


def _compiler_of(known: OptionMeaning) -> OptionCompiler:
    if known.check is not None:
        return known.check

    def compile_option(option: MatchOption, context: RuleContext) -> Check:
        del context
        if known.read is None or len(option.values) != known.words:
            raise ValueError(
                f"expected {known.words} values of --{option.name}, saw {len(option.values)}"
            )
        holds = known.read(" ".join(option.values))
        wanted = not option.negated

        def check_option(state: Surroundings) -> bool:
            return holds(state.skb) is wanted

        return check_option

    return compile_option


class NftStatement(NamedTuple):
    """The statement of nftables that a target is translated to, and back from."""

    name: str
    """`masquerade`."""
    act: Callable[[NatRange, RuleContext], TargetAct]
    """Compile it for the addresses and ports that the statement names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetExtension:
    """A target (`-j NAME`)."""

    name: str
    options: Mapping[str, OptionMeaning] = field(default_factory=dict)
    """By their long names without dashes."""
    forms: tuple[Form, ...] = ()
    """How `iptables -L` words it; it always ends the line."""
    listed: ListedReader | None = None
    """Make the options of a form's groups; None where each group is an option by name."""
    bare: bool = False
    """True where `iptables -L` prints nothing for it when it has no options."""
    tables: frozenset[str] = ALL_TABLES
    """`.table` in net/netfilter/xt_*.c: where it may stand."""
    hooks: frozenset[str] = ALL_HOOKS
    """`.hooks` in xt_*.c and ipt_*.c: every base chain that leads to it must be one of these."""
    compiler: TargetCompiler | None = None
    """Compile it; None where it changes nothing that a walk looks at, or ends it."""
    effect: str = ""
    """What it does, where that changes nothing that a walk looks at."""
    audible: frozenset[str] = frozenset()
    """Options with which that is not so."""
    stops: str = ""
    """Why a walk ends at it; empty where it goes on."""
    tracks: bool = False
    """True where a rule with it switches conntrack on in its namespace (`nf_ct_netns_get`)."""
    nft: NftStatement | None = None
    """What iptables-translate makes of it, where a statement of nftables does the same."""
    draws: tuple[Draw, ...] = ()
    """What the lab draws now and then."""
    not_drawn: str = ""
    """Why no case of the lab has it."""

    @property
    def words(self) -> dict[str, int]:
        """Return how many words each option takes."""
        return {name: option.words for name, option in self.options.items()}
