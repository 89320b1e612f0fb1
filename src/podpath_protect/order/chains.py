"""A base chain as iptables lists it, read by the reader of evidence: where its jumps stand, and
whether they are in order.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from podpath.evidence.iptables.rules import read_rules
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.evidence.text.tokenizer import scan_quoted
from podpath.net.provenance import Source
from podpath_protect.order.rules import OrderRule

Backend = Literal["nft", "legacy"]
Family = Literal["ipv4", "ipv6"]


class BaseChain(NamedTuple):
    """One base chain of one backend and family."""

    backend: Backend
    family: Family
    table: str
    chain: str

    @property
    def program(self) -> str:
        """The program that lists it: `iptables-nft`, `ip6tables-legacy`."""
        return f"{'iptables' if self.family == 'ipv4' else 'ip6tables'}-{self.backend}"

    def __str__(self) -> str:
        """Spell the command that lists it."""
        return f"{self.program} -t {self.table} -S {self.chain}"


class ListedRule(NamedTuple):
    """One rule of a chain."""

    number: int
    """From 1, as iptables counts."""
    text: str
    """As `iptables -S` prints it: `-A FORWARD ... -j NAME`."""
    target: str | None

    @property
    def specification(self) -> str:
        """The rule without `-A CHAIN`, as iptables-restore reads it."""
        return self.text.split(None, 2)[2]

    @property
    def arguments(self) -> str:
        """The same for a person's shell: what a comment holds is never run."""
        return shlex.join(word.text for word in scan_quoted(self.specification))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRules:
    """The rules of one base chain."""

    place: BaseChain
    lines: tuple[ListedRule, ...]
    unread: tuple[str, ...] = ()
    """Lines that could not be read: with any, nothing is moved."""


class Disorder(NamedTuple):
    """A jump that stands behind one that it must come before."""

    rule: OrderRule
    listing: ChainRules
    late: ListedRule
    """The jump that comes too late."""
    early: ListedRule
    """The one that it must come before."""


class Split(NamedTuple):
    """The two jumps stand in different backends: which one a packet meets first is no matter of
    their lines.
    """

    rule: OrderRule
    first: ChainRules
    then: ChainRules


def parse_listing(text: str, place: BaseChain) -> ChainRules:
    """Read what `iptables -S CHAIN` printed."""
    source = Source(
        name=place.program, lines=tuple(text.rstrip("\n").split("\n")), command=str(place)
    )
    reading = read_rules(source)
    shown = [record for record in reading.records if isinstance(record, RulesetRecord)]
    chains = [record.chains[place.chain] for record in shown if place.chain in record.chains]
    rules = [rule for chain in chains for rule in chain.rules]
    lines = tuple(
        ListedRule(number, rule.span.text, rule.target.name if rule.target is not None else None)
        for number, rule in enumerate(rules, start=1)
    )
    printed = [line for line in source.lines if line.startswith("-A ")]
    unread = [gap.span.text for gap in reading.gaps] + [
        rule.span.text for rule in rules if rule.unread
    ]
    if [line.text for line in lines] != printed:
        unread.append(f"{len(printed)} rules were printed, {len(lines)} read")
    return ChainRules(place=place, lines=lines, unread=tuple(unread))


def find_disorder(
    rules: Iterable[OrderRule], listings: Iterable[ChainRules]
) -> tuple[Disorder, ...]:
    """Return each jump that comes too late: the first one to its chain stands behind the first one
    to another.
    """
    known = tuple(listings)
    found = []
    for rule in rules:
        for listing in known:
            if (listing.place.table, listing.place.chain) != (rule.table, rule.chain):
                continue
            late = next((line for line in listing.lines if line.target == rule.first), None)
            early = next((line for line in listing.lines if line.target in rule.then), None)
            if late is not None and early is not None and early.number < late.number:
                found.append(Disorder(rule, listing, late, early))
    return tuple(found)


def find_splits(rules: Iterable[OrderRule], listings: Iterable[ChainRules]) -> tuple[Split, ...]:
    """Return each pair of jumps whose order is the order in which two backends came to the hook."""
    known = tuple(listings)
    found = []
    for rule in rules:
        here = [
            listing
            for listing in known
            if (listing.place.table, listing.place.chain) == (rule.table, rule.chain)
        ]
        for first in here:
            for then in here:
                apart = (
                    first.place.family == then.place.family
                    and first.place.backend != then.place.backend
                )
                if apart and _jumps_to(first, {rule.first}) and _jumps_to(then, set(rule.then)):
                    found.append(Split(rule, first, then))
    return tuple(found)


def _jumps_to(listing: ChainRules, targets: set[str]) -> bool:
    return any(line.target in targets for line in listing.lines)
