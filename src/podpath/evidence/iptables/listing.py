"""Reads `iptables -nvL`: chains as tables for people to read, in which each extension has its own
wording.

A row is read by the columns that the header above it names, in the order they stand: widths tell
nothing, since long names push the rest aside and a rule without target leaves its column blank.
What a listing leaves out (devices without `-v`, names in place of numbers without `-n`) makes the
rule unread; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN, LIKELY, NO, POSSIBLE, Format, sample
from podpath.evidence.iptables.command import (
    LISTING_ACTIONS,
    IptablesCommand,
    parse_iptables_command,
)
from podpath.evidence.iptables.listing_text import parse_listed_text
from podpath.evidence.iptables.notes import guess_family, is_message, read_note
from podpath.evidence.iptables.options import TARGETS, VERDICTS
from podpath.evidence.iptables.row import (
    ListingColumns,
    ListingRow,
    list_columns,
    parse_counter,
    parse_header,
    parse_row,
    read_row,
)
from podpath.evidence.iptables.ruleset import ChainText, RulesetRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Family
from podpath.net.provenance import Source, Span
from podpath.xtables.legality import BASE_CHAINS, ChainPolicy

_CHAIN = re.compile(
    r"\s*Chain (?P<name>\S+) \((?:policy (?P<policy>ACCEPT|DROP|-)(?: "
    r"(?P<packets>\d{1,20}[KMGTP]?) packets, \S+ bytes)?|\d+ references?|ERROR obtaining refs)\)\s*"
)
_SHAPES = (
    list_columns(), list_columns(num=True), list_columns(counters=False, devices=False),
    list_columns(num=True, counters=False, devices=False),
)  # fmt: skip
_WRAP_LINES = 3
UNNAMED = "?"
"""How a chain is called whose heading was filtered away, before its line: nothing jumps to it, so
no walk meets it.
"""


def recognise_listing(source: Source) -> int:
    """Be certain where a chain's heading or the columns' titles stand; rows alone have a shape of
    their own.
    """
    lines = sample(source)
    if any(_CHAIN.fullmatch(line) or parse_header(line) for line in lines):
        return CERTAIN
    shapes = _SHAPES if parse_iptables_command(source).action in LISTING_ACTIONS else _SHAPES[:1]
    rows = max(_count_rows(lines, shape) for shape in shapes)
    if rows:
        return LIKELY if rows * 2 > len(lines) else POSSIBLE
    return CERTAIN if is_message(source, lines, "L") else NO


def _count_rows(lines: Sequence[str], shape: ListingColumns) -> int:
    return sum(parse_row(line, shape, 4) is not None for line in lines)


def read_listing(source: Source) -> Reading:
    """Read all chains that a listing shows."""
    return _ListingReader(source).read()


FORMATS = (Format("iptables -L", recognise_listing, read_listing),)


class _Chain:
    """A chain while its rows are read."""

    __slots__ = ("in_line", "name", "packets", "place", "policy", "rows", "whole")

    def __init__(
        self, name: str, place: int | None, policy: ChainPolicy | None, packets: int | None
    ) -> None:
        self.name = name
        self.place = place
        self.policy = policy
        self.packets = packets
        self.rows: list[_PlacedRow] = []
        self.whole = True
        self.in_line: int | None = None

    def cut(self) -> None:
        """Note that rows may be missing here."""
        self.whole = False
        if self.in_line is None:
            self.in_line = len(self.rows)


class _PlacedRow(NamedTuple):
    span: Span
    row: ListingRow


class _ListingReader:
    """Reads one source. Mutable, local to one call."""

    __slots__ = (
        "_asked",
        "_blocks",
        "_columns",
        "_command",
        "_family",
        "_gaps",
        "_ledger",
        "_lines",
    )

    def __init__(self, source: Source) -> None:
        self._ledger = Ledger(source)
        self._lines = source.lines
        self._command: IptablesCommand = parse_iptables_command(source)
        self._family: Family = self._command.family or guess_family(source.lines)
        self._columns: ListingColumns | None = None
        self._blocks: list[list[_Chain]] = [[]]
        self._gaps: set[int] = set()

    def read(self) -> Reading:
        place = 0
        while place < len(self._lines):
            place = self._read_line(place, self._lines[place]) + 1
        if self._ledger.source.open_end:
            self._cut()
        named = self._shows_names()
        for block in self._blocks:
            if block:
                self._ledger.add(self._make_record(block, named=named))
        return self._ledger.close("a chain, a header or a rule of iptables -L")

    def _read_line(self, place: int, line: str) -> int:
        """Read one line; give the last line that belongs to it."""
        if not line or line.isspace():
            return place
        heading = _CHAIN.fullmatch(line)
        if heading is not None:
            self._ledger.span(place)
            self._open(
                _Chain(
                    heading["name"],
                    place,
                    _policy(heading["policy"]),
                    parse_counter(heading["packets"]),
                )
            )
            return place
        columns = parse_header(line)
        if columns is not None:
            self._ledger.head(place)
            self._columns = columns
            return place
        row = self._parse_row(line)
        if row is not None:
            self._take_row(place, place, row)
            return place
        notes = tuple(read_note(self._ledger.source, line, self._ledger.span(place), self._family))
        for note in notes:
            self._ledger.add(note)
        if notes:
            return place
        if self._ledger.elide(place):
            self._cut()
        else:
            return self._take_rest(place)
        return place

    def _open(self, chain: _Chain) -> None:
        """Start a chain; a name that was there already starts the next table."""
        if any(other.name == chain.name for other in self._blocks[-1]):
            self._blocks.append([])
        self._blocks[-1].append(chain)

    def _parse_row(self, line: str) -> ListingRow | None:
        """Read a row by the header, or where there is none by the first shape that it fits."""
        if self._columns is not None:
            return parse_row(line, self._columns, self._family)
        for columns in _SHAPES:
            row = parse_row(line, columns, self._family)
            if row is not None:
                self._columns = columns
                return row
        return None

    def _take_row(self, place: int, last: int, row: ListingRow) -> None:
        if not self._blocks[-1] and self._command.chain is not None:
            chain = _Chain(self._command.chain, None, None, None)
            chain.cut()
            self._open(chain)
        if not self._blocks[-1]:
            chain = _Chain(f"{UNNAMED}{self._ledger.source.first_line + place}", None, None, None)
            chain.cut()
            self._open(chain)
        span = self._ledger.span(place, last)
        chain = self._blocks[-1][-1]
        chain.rows.append(_PlacedRow(span, row))
        if chain.name.startswith(UNNAMED):
            self._ledger.refuse(
                span, "expected the heading of the chain that the rule is in, saw none"
            )

    def _take_rest(self, place: int) -> int:
        """Take a line that is no row as a part of one that was wrapped, or as a gap that may hide a
        rule.
        """
        for last in range(place, min(place + _WRAP_LINES, len(self._lines))):
            if last > place and self._starts_something(self._lines[last]):
                break
            text = " ".join(line.strip() for line in self._lines[place : last + 1])
            row = self._parse_row(text)
            if row is not None and not parse_listed_text(row.target, row.text).unread:
                self._take_row(place, last, row)
                return last
            if self._goes_on(place, last, text):
                return last
        self._ledger.gap(
            place,
            (
                "expected a rule in the columns of the header, saw "
                f"{self._lines[place].strip()[:60]!r}"
            ),
        )
        self._gaps.add(self._ledger.source.first_line + place)
        self._cut()
        return place

    def _starts_something(self, line: str) -> bool:
        return bool(
            not line.strip()
            or _CHAIN.fullmatch(line)
            or parse_header(line)
            or self._parse_row(line)
        )

    def _goes_on(self, place: int, last: int, text: str) -> bool:
        """Put lines to the row right above them, if its text is whole only with them."""
        rows = self._blocks[-1][-1].rows if self._blocks[-1] else []
        if not rows or rows[-1].span.last_line != self._ledger.source.first_line + place - 1:
            return False
        row = rows[-1].row
        joined = f"{row.text} {text}".strip()
        if parse_listed_text(row.target, joined).unread:
            return False
        rows[-1] = _PlacedRow(
            self._ledger.span(rows[-1].span.line - self._ledger.source.first_line, last),
            row._replace(text=joined),
        )
        return True

    def _cut(self) -> None:
        if self._blocks[-1]:
            self._blocks[-1][-1].cut()

    def _shows_names(self) -> bool:
        """Tell whether the listing has names for numbers: then any device is `any` and not `*`."""
        rows = [placed.row for block in self._blocks for chain in block for placed in chain.rows]
        return not any(
            "*" in (row.inward, row.outward) or "0.0.0.0/0" in (row.source, row.destination)
            for row in rows
        )

    def _make_record(self, block: list[_Chain], *, named: bool) -> RulesetRecord:
        chains: dict[str, ChainText] = {}
        source = self._ledger.source
        spans = [placed.span for chain in block for placed in chain.rows]
        for chain in block:
            span = None if chain.place is None else self._ledger.span(chain.place)
            spans += [] if span is None else [span]
            rules = tuple(
                read_row(placed.row, placed.span, chain.name, named=named) for placed in chain.rows
            )
            whole = chain.whole and not self._command.filtered and self._command.number is None
            in_line = None if whole else chain.in_line or 0
            chains[chain.name] = ChainText(
                chain.name, span, chain.policy, rules, whole, chain.packets, in_line
            )
        first, last = min(span.line for span in spans), max(span.last_line for span in spans)
        return RulesetRecord(
            span=Span(source, first, last),
            family=self._family,
            flavour=self._command.flavour,
            table=self._command.shown_table if len(self._blocks) == 1 else None,
            chains=chains,
            whole=len(self._blocks) == 1 and self._is_whole(chains),
            gap_lines=frozenset(line for line in self._gaps if first <= line <= last),
        )

    def _is_whole(self, chains: Mapping[str, ChainText]) -> bool:
        """Tell whether a table is shown whole: nothing was cut, all base chains are there and every
        chain that is jumped to.
        """
        if self._command.chain is not None or not all(chain.whole for chain in chains.values()):
            return False
        targets = {
            rule.target.name
            for chain in chains.values()
            for rule in chain.rules
            if rule.target is not None
        }
        known = chains.keys() | TARGETS.keys() | VERDICTS
        return targets <= known and any(
            chains.keys() >= set(names) for names in BASE_CHAINS.values()
        )


def _policy(text: str | None) -> ChainPolicy | None:
    return None if text in (None, "-") else ChainPolicy(text)
