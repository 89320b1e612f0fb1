"""Keeps account of a source's lines while a reader works, so that none is lost.

Every line that is not blank ends in the span of a record or of a gap: what the reader did not claim
by the end becomes a gap.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.evidence.records import HeadingRecord, Reading, Record
from podpath.evidence.text.tokenizer import is_ellipsis, is_terminal_talk
from podpath.net.provenance import Gap, GapKind, Source, Span


class Ledger:
    """The records and gaps of one source. Lines are counted from 0 here and numbered as in the file
    in the spans.
    """

    __slots__ = ("_claimed", "gaps", "records", "source")

    def __init__(self, source: Source) -> None:
        """Open the account of a source with nothing claimed."""
        self.source = source
        self.records: list[Record] = []
        self.gaps: list[Gap] = []
        self._claimed = bytearray(len(source.lines))

    def span(self, index: int, last: int | None = None) -> Span:
        """Return the span of the lines `index` to `last` (that one line by default) and claim
        them.
        """
        end = index if last is None else last
        if end == index:
            if index < len(self._claimed):
                self._claimed[index] = 1
        else:
            self._claimed[index : end + 1] = b"\1" * (min(end + 1, len(self._claimed)) - index)
        first = self.source.first_line
        return Span(self.source, first + index, first + end)

    def add(self, record: Record) -> None:
        """Keep a record, whose span came from `span`."""
        self.records.append(record)

    def replace_span(self, span: Span) -> None:
        """Give the last record another span: a line below still belongs to it."""
        self.records[-1] = replace(self.records[-1], span=span)

    def head(self, index: int, last: int | None = None) -> None:
        """Keep lines that belong to the format but state no fact, as a heading."""
        span = self.span(index, last)
        self.records.append(HeadingRecord(span=span, text=span.text.strip()))

    def elide(self, index: int) -> bool:
        """Keep the line as a partial heading if it only says that lines were left out; tell whether
        it does.
        """
        if not is_ellipsis(self.source.lines[index]):
            return False
        self.records.append(
            HeadingRecord(
                span=self.span(index), text=self.source.lines[index].strip(), partial=True
            )
        )
        return True

    def _hear(self, index: int) -> bool:
        """Keep what a terminal says between a command and its output as a heading; tell whether the
        line is such.
        """
        if not is_terminal_talk(self.source.lines[index]):
            return False
        self.head(index)
        return True

    def title(self, index: int) -> bool:
        """Keep a line of words above the first record as a heading, and tell whether it is one.

        net-tools print theirs in every language.
        """
        line = self.source.lines[index]
        first = len(self.records) < 3 and all(
            isinstance(record, HeadingRecord) for record in self.records
        )
        if (
            not first
            or not line.strip()
            or is_ellipsis(line)
            or any(sign.isdigit() for sign in line)
        ):
            return False
        self.head(index)
        return True

    def gap(self, index: int, why: str, last: int | None = None) -> None:
        """Keep lines that could not be read, with the reason."""
        self.gaps.append(Gap(self.span(index, last), why))

    def unread(self, index: int, expected: str) -> None:
        """Keep a line that is nothing of what the format has."""
        self.gap(index, f"expected {expected}, saw {_shorten(self.source.lines[index].strip())!r}")

    def leave_out(self, index: int, what: str) -> None:
        """Keep a line in whose place somebody left things out."""
        self.gaps.append(Gap(self.span(index), f"{what} were left out here", kind=GapKind.CUT))

    def select(self, span: Span, why: str) -> None:
        """Keep that somebody showed some packets of a capture and left out others."""
        self.gaps.append(Gap(span, why, kind=GapKind.SELECTED))

    def refuse(self, span: Span, why: str) -> None:
        """Keep a gap whose lines are claimed already: a part of a record that could not be read."""
        self.gaps.append(Gap(span, why))

    def is_claimed(self, index: int) -> bool:
        """Tell whether the line is in some span already."""
        return self._claimed[index] == 1

    def close(self, expected: str) -> Reading:
        """Close the account: each run of unclaimed lines that are not blank becomes a gap."""
        lines = self.source.lines
        for index, claimed in enumerate(self._claimed):
            if (
                not claimed
                and lines[index]
                and not lines[index].isspace()
                and not self.elide(index)
                and not self._hear(index)
            ):
                self.unread(index, expected)
        return Reading(tuple(self.records), tuple(self.gaps))


def _shorten(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
