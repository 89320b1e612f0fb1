"""What the outputs of iptables state: rules as they are spelled, chains, and the part of a table
that one output shows.

`iptables-save`, `iptables -S`, bare `-A` lines and `iptables -nvL` all give these records, with
rules in one spelling: that of `iptables-save`, each option with the match or target that it belongs
to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podpath.evidence.records import Record
from podpath.net.addresses import Family
from podpath.net.provenance import Span
from podpath.xtables.legality import ChainPolicy
from podpath.xtables.rule import MatchOption


class ExtensionText(NamedTuple):
    """A match or target of a rule with its options."""

    name: str
    options: tuple[MatchOption, ...] = ()


class RuleText(NamedTuple):
    """One rule as an output spells it."""

    span: Span
    chain: str
    selectors: tuple[MatchOption, ...] = ()
    """`source`, `destination`, `protocol`, `in-interface`, `out-interface`, `fragment`."""
    matches: tuple[ExtensionText, ...] = ()
    target: ExtensionText | None = None
    goto: bool = False
    packets: int | None = None
    bytes: int | None = None
    number: int | None = None
    """Its position from 1, where the output has one (`--line-numbers`)."""
    unread: str = ""
    """What of the rule is not known: the line is cut, a column is missing, a text is not
    understood. Empty: nothing.
    """
    hidden: tuple[str, ...] = ()
    """Of a rule that is unread, the selectors that are not shown or masked, where all else of it is
    known.
    """


class ChainText(NamedTuple):
    """One chain as an output shows it."""

    name: str
    span: Span | None
    """Where it is declared (`:NAME`, `-N NAME`, `Chain NAME`); None where only its rules stand
    there.
    """
    policy: ChainPolicy | None
    """Of a base chain; None where the output shows none."""
    rules: Sequence[RuleText]
    """In evaluation order; may read its lines when first asked for."""
    whole: bool
    """True where the output shows all its rules."""
    packets: int | None = None
    """The policy's packet counter."""
    in_line: int | None = None
    """How many of its rules stand at its head with none left out before them; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetRecord(Record):
    """The part of one table that one output shows. Its span covers the lines; the gaps within it
    are not its own.
    """

    family: Family
    flavour: str | None
    """`legacy` or `nft`; None where the output does not say."""
    table: str | None
    """None where the output does not say: bare rules, or several tables through a grep."""
    chains: Mapping[str, ChainText]
    """May be lazy; in the order the output shows them."""
    whole: bool
    """True where the output shows all chains of the table."""
    gap_lines: frozenset[int] = frozenset()
    """Lines within the span that stand in a gap, by their number in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetfilterNoteRecord(Record):
    """A line by which an output of iptables speaks of what it does not show."""

    family: Family
    kind: str
    """`legacy-present`: tables of the legacy flavor exist too; `incompatible`: the nft table
    `table` holds what iptables cannot show; `no-such-chain`: the chain asked for does not exist.
    """
    table: str | None = None
