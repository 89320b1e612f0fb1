"""Long printed captures as evidence: all packets as columns, and as lines only those that tell of a
failure.

What short texts give line by line stays the same for the lines that are shown, each under its own
number of the file; what is not a packet is shown whole. Nothing is kept for a line that is not
shown but its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from podpath.evidence.files import MANY_LINES, has_console_marks, is_binary, split_lines
from podpath.evidence.formats import LIKELY
from podpath.evidence.recognition import recognise
from podpath.evidence.records import HeadingRecord, PacketRecord
from podpath.evidence.tcpdump.output import FORMAT, read_tcpdump
from podpath.net.provenance import Source, Span

if TYPE_CHECKING:
    from podpath_capture.printed.packets import PrintedCapture, PrintedPacket
    from podpath_capture.text.read import PrintedRows

BATCH = 20_000
"""Lines of unusual shapes that are read at once: each is an object for as long."""
_MARKED = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LISTENING = re.compile(r"listening on (?P<link>[^\s,]+), link-type")


class PrintedText:
    """The text of a long printed capture, of which lines are made when they are asked for."""

    def __init__(self, name: str, data: bytes | memoryview, rows: PrintedRows) -> None:
        """Keep the text, and where its lines stand."""
        self.name = name
        self._data = data
        self._starts, self._ends = rows.starts, rows.ends

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """Return a line, by its number from 0."""
        return bytes(self._data[int(self._starts[number]) : int(self._ends[number])]).decode(
            "utf-8", "replace"
        )

    def show(self, numbers: Iterable[int]) -> Source:
        """Return the text with all other lines empty."""
        lines = [""] * len(self)
        for number in numbers:
            lines[number] = self.line(number)
        return Source(name=self.name, lines=tuple(lines))

    def quote(self, first: int, last: int) -> Span:
        """Return the span of some lines, by their numbers from 0."""
        lines = tuple(self.line(number) for number in range(first, last + 1))
        return Span(Source(name=self.name, lines=lines, first_line=first + 1), first + 1, last + 1)


class ReadText(NamedTuple):
    """A long printed capture that was read."""

    text: PrintedText
    packed: PrintedCapture
    words: tuple[int, ...]
    """Lines that are no packets, from 0."""

    def show(self, rows: Sequence[int]) -> Source:
        """Return the lines of some packets, and all that are no packets, as if all others were
        empty.
        """
        lines = set(self.words)
        for row in rows:
            lines.update(range(int(self.packed.first[row]), int(self.packed.last[row]) + 1))
        return self.text.show(lines)

    def quote(self, row: int) -> Span:
        """Return the lines of a packet."""
        return self.text.quote(int(self.packed.first[row]), int(self.packed.last[row]))


def is_printed(head: bytes) -> bool:
    """Tell whether a text of whole lines that begins so is what tcpdump prints."""
    if head.startswith(_MARKED) or is_binary(head[:65536]):
        return False
    lines = split_lines(head.decode("utf-8", "replace"))
    source = Source(name="", lines=tuple(lines[:-1]))
    found = recognise(source) if len(lines) > 1 else None
    return found is FORMAT and found.recognise(source) >= LIKELY


def read_text(name: str, data: bytes | memoryview) -> ReadText | None:
    """Read a printed capture; None where it is short, or a document with prompts in it, or not
    plain: then its lines decide.

    `ImportError` where NumPy is missing.
    """
    from podpath_capture.files.file import as_bytes  # noqa: PLC0415 - an extra
    from podpath_capture.printed.packets import pack_printed  # noqa: PLC0415 - as above
    from podpath_capture.text.read import read_rows  # noqa: PLC0415 - as above

    rows = read_rows(as_bytes(data))
    if len(rows.starts) <= MANY_LINES or not rows.plain:
        return None
    text = PrintedText(name, data, rows)
    left = rows.left.tolist()
    if has_console_marks("\n".join(text.line(number) for number in left)):
        return None
    others, words, link = _read_left(text, left)
    return ReadText(text, pack_printed(others, rows, link), tuple(words))


def _read_left(
    text: PrintedText, left: Sequence[int]
) -> tuple[list[PrintedPacket], list[int], str]:
    """Read lines of unusual shapes: the packets that they show, the lines that show none, and the
    device that they name.
    """
    others: list[PrintedPacket] = []
    words: list[int] = []
    link = ""
    for numbers in _batches(left):
        reading = read_tcpdump(
            Source(
                name=text.name,
                lines=tuple("" if number < 0 else text.line(number) for number in numbers),
            )
        )
        told: set[int] = set()
        for record in reading.records:
            first, last = numbers[record.span.line - 1], numbers[record.span.last_line - 1]
            if isinstance(record, PacketRecord) and record.time is not None:
                told.update(range(first, last + 1))
                others.append(_as_packet(record, first, last))
            elif isinstance(record, HeadingRecord):
                found = _LISTENING.match(record.text)
                link = found["link"] if found is not None and found["link"] != "any" else link
        words += [number for number in numbers if number >= 0 and number not in told]
    return others, words, link


def _as_packet(record: PacketRecord, first: int, last: int) -> PrintedPacket:
    from podpath_capture.printed.packets import PrintedPacket  # noqa: PLC0415 - an extra

    return PrintedPacket(
        lines=(first, last),
        time=record.time or 0.0,
        link=record.link,
        direction=record.direction,
        tunnel=record.tunnel,
        text=record.span.text,
        packet=record.packet,
        arp=record.arp,
        macs=(record.smac, record.dmac),
    )


def _batches(left: Sequence[int]) -> Iterator[list[int]]:
    """Yield lines in batches; an empty line, of number -1, stands where lines are left out, and no
    packet goes on behind one.
    """
    batch: list[int] = []
    for place, number in enumerate(left):
        if place and number != left[place - 1] + 1:
            if len(batch) > BATCH:
                yield batch
                batch = []
            batch.append(-1)
        batch.append(number)
    if batch:
        yield batch
