"""One table block of rules while it is read: which lines are whose, and which chains it can be
trusted to show whole.

iptables prints a table chain by chain (`for_each_chain`, iptables/iptables-save.c 1.8.9), so a cut
or an ellipsis leaves the chains whole that stand on either side of it, but for the two that it
touches and those of which no rule is in sight.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain

from podpath.evidence.iptables.command import IptablesCommand
from podpath.evidence.iptables.options import VERDICTS
from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.evidence.iptables.ruleset_lines import BlockChains, Wrap
from podpath.net.addresses import Family
from podpath.net.provenance import Source, Span
from podpath.xtables.legality import BASE_CHAINS


class RulesetBlock:
    """Collects the lines of one block. Places are counted from 0 in the source."""

    __slots__ = (
        "begin",
        "bottom",
        "declared",
        "elisions",
        "first",
        "gaps",
        "last",
        "rules",
        "saved",
        "source",
        "table",
        "top",
        "wraps",
    )

    def __init__(self, source: Source, begin: int, table: str | None) -> None:
        """Open a block at its `*table` line (then `table` is given), or where the one before
        ended.
        """
        self.source = source
        self.begin = begin
        self.first = self.last = begin
        """The lines that state something; meaningless while the block is empty."""
        self.table = table
        self.top = table is not None
        """True where the block's first line is there."""
        self.bottom = False
        """True where COMMIT is there."""
        self.saved = self.top
        """True where it is spelled as iptables-save does."""
        self.declared: dict[str, int] = {}
        self.rules: dict[str, list[int]] = {}
        self.wraps: dict[int, Wrap] = {}
        self.elisions: list[int] = []
        """Lines that say, or may hide, that others are missing."""
        self.gaps: set[int] = set()

    @property
    def is_empty(self) -> bool:
        """Tell whether no line of the block states anything."""
        return not (self.rules or self.declared or self.top or self.bottom)

    @property
    def is_cut(self) -> bool:
        """Tell whether it begins as iptables-save does, shows rules, and does not end so."""
        return self.top and bool(self.rules) and not self.bottom

    def stretch(self, place: int) -> None:
        """Let the block reach to a line that states something."""
        if self.is_empty:
            self.first = self.last = place
        elif place < self.first:
            self.first = place
        elif place > self.last:
            self.last = place

    def declare(self, chain: str, place: int, *, saved: bool) -> None:
        """Take a line that declares a chain."""
        self.stretch(place)
        self.declared[chain] = place
        self.saved = self.saved or saved

    def commit(self, place: int) -> None:
        """Take the COMMIT line."""
        self.stretch(place)
        self.bottom = self.saved = True

    def wrap(self, place: int, wrap: Wrap) -> None:
        """Let the rule at a place go on below."""
        self.wraps[place] = wrap
        self.stretch(wrap.last)

    def add_rules(self, rules: dict[str, list[int]]) -> None:
        """Take all plain rules of the block at once."""
        if rules:
            self.stretch(min(places[0] for places in rules.values()))
            self.rules = rules
            self.stretch(max(places[-1] for places in rules.values()))

    def add_rule(self, chain: str, place: int) -> None:
        """Put a rule's line to its chain, in line order."""
        self.stretch(place)
        places = self.rules.setdefault(chain, [])
        if places and places[-1] > place:
            places.insert(bisect_left(places, place), place)
        else:
            places.append(place)

    def record(
        self, command: IptablesCommand, family: Family, flavour: str | None
    ) -> RulesetRecord:
        """Return what the block states, with what is known of its wholeness."""
        first = self.source.first_line
        unfinished = self._find_unfinished(command)
        whole, cut, edges = self._judge_chains(command, unfinished)
        return RulesetRecord(
            span=Span(self.source, first + self.first, first + self.last),
            family=family,
            flavour=flavour,
            table=self.table or command.shown_table,
            chains=BlockChains(
                self.source,
                self.declared,
                self.rules,
                whole,
                cut,
                self.wraps,
                self._count_in_line(cut, edges),
                unfinished,
            ),
            whole=unfinished is None and self._is_whole(command),
            gap_lines=frozenset(first + place for place in self.gaps),
        )

    def _is_whole(self, command: IptablesCommand) -> bool:
        if command.filtered or self.elisions or self._lacks_called(command):
            return False
        if self.saved:
            return self.top and self.bottom
        if command.action == "S":
            return command.chain is None
        return any(set(chains) <= self.declared.keys() for chains in BASE_CHAINS.values())

    def _find_unfinished(self, command: IptablesCommand) -> int | None:
        """Return the line in which the output ends although more of it should follow; None where
        it says all that it could.

        A rule that ends in a verdict is whole: iptables prints nothing behind one.
        """
        place = self.last
        listed = self.saved or command.action == "S" or bool(self.declared)
        ends_here = not any(line.strip() for line in self.source.lines[place + 1 :])
        if self.bottom or not listed or not ends_here or command.filtered:
            return None
        rule = parse_rule_line(self.source.lines[place])
        if rule is None or rule.unread or place in self.wraps:
            return None
        if rule.target is None:
            return place
        names = (*self.declared, *self.rules)
        longer = any(
            name != rule.target.name and name.startswith(rule.target.name) for name in names
        )
        plain = rule.target.name in VERDICTS or (rule.target.name in names and not longer)
        return place if self.saved and (longer or not plain) else None

    def _judge_chains(
        self, command: IptablesCommand, unfinished: int | None
    ) -> tuple[bool, frozenset[str], Sequence[int]]:
        """Say whether chains are shown whole, which ones are not although the others are, and at
        which lines rules may be left out.
        """
        if command.filtered or command.number is not None:
            return False, frozenset(), ()
        ordered = self.saved or command.action == "S"
        ends = unfinished is not None or self._lacks_called(command) or self._has_open_end()
        edges = [*self.elisions, *((self.last + 1,) if ends else ())]
        if not ordered:
            bare = self.rules.keys() - self.declared.keys()
            return True, frozenset(bare) | self._touched(edges), edges
        if (self.bottom or not self.saved) and (self.top or self.declared) and not edges:
            return True, frozenset(), ()
        if not self.rules:
            return False, frozenset(), ()
        if not (self.top or self.declared):
            edges.append(self.first)
        if self.saved and not self.bottom:
            edges.append(self.last + 1)
        edges.sort()
        return True, self._touched(edges), edges

    def _lacks_called(self, command: IptablesCommand) -> bool:
        """Tell whether the output ends among the rules of its base chains, which come first, though
        other chains are declared: a listing that shows none of their rules is cut sooner than
        whole.

        A listing of one chain shows no base chain before it: without a rule, the chain is empty.
        """
        if self.bottom or self.saved or command.chain is not None:
            return False
        base = frozenset(chain.from_iterable(BASE_CHAINS.values()))
        return self.rules.keys() <= base and not self.declared.keys() <= base

    def _has_open_end(self) -> bool:
        """Tell whether rules may have followed that a console's text does not show any more."""
        following = self.source.lines[self.last + 1 :]
        return self.source.open_end and not self.bottom and not any(map(str.strip, following))

    def _count_in_line(self, cut: Iterable[str], edges: Sequence[int]) -> dict[str, int]:
        """Count the rules of each chain that is not whole up to the first line at which others may
        be left out before them.
        """
        lasts = sorted(places[-1] for places in self.rules.values())
        counts: dict[str, int] = {}
        for name in cut:
            places = self.rules.get(name, ())
            if not places or name not in self.declared:
                continue
            before = max((last for last in lasts if last < places[0]), default=-1)
            edge = next((edge for edge in edges if edge > before), self.last + 1)
            counts[name] = bisect_left(places, edge)
        return counts

    def _touched(self, edges: Sequence[int]) -> frozenset[str]:
        """Return the chains that may lack rules at one of these places."""
        if not edges:
            return frozenset()
        placed = sorted((place, chain) for chain, places in self.rules.items() for place in places)
        if not placed:
            return frozenset(self.declared)
        touched: set[str] = set()
        for edge in edges:
            after = bisect_left(placed, (edge, ""))
            if after == 0 and edge > self.first and self.declared:
                continue  # among the declarations: rules come later
            touched.update(chain for _, chain in placed[max(after - 1, 0) : after + 1])
            touched.update(self.declared.keys() - self.rules.keys())
        return frozenset(touched)
