"""The sum that holds for a ticket as a whole: each line that is not blank ends as a record, as a
gap, as a command, or as prose that was decided to be prose. None is lost silently.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.evidence.documents.document import part_document
from podpath.evidence.documents.leftovers import says_nothing
from podpath.evidence.documents.regions import decode_line, is_fence, strip_quote
from podpath.evidence.files import decode_text, parse_file, split_lines
from podpath.evidence.recognition import read
from podpath.evidence.records import MessageRecord
from podpath.net.provenance import Source, Span

OPEN_HALF = Path(__file__).parents[2] / "incidents" / "open"
TICKETS = sorted(OPEN_HALF.glob("*/ticket.md"))
TAGS = ("<pre", "<code", "</pre", "</code", "{code", "{noformat")


def lost_lines(data: bytes) -> dict[int, str]:
    """Return the lines of a ticket that nobody accounts for, by their numbers."""
    text, _ = decode_text("ticket.md", data)
    lines = split_lines(text)
    evidence = parse_file("ticket.md", data)
    parted = part_document("ticket.md", lines)
    spans = [gap.span for gap in evidence.gaps]
    for source in evidence.sources:
        spans += spans_of(source)
    held = {number for span in spans for number in range(span.line, span.last_line + 1)}
    held |= parted.commands
    held |= {line.number for line in parted.aside if says_nothing(line.text)}
    held |= {number for number in parted.fences if is_border(lines[number - 1])}
    return {
        number: line
        for number, line in enumerate(lines, 1)
        if decode_line(number, line).text.strip(" \t\r>") and number not in held
    }


def spans_of(source: Source) -> list[Span]:
    """Return what a source's reader made of it; a source that no reader knows is a gap."""
    reading = read(source)
    if reading is None:
        last = source.first_line + len(source.lines) - 1
        return [Span(source, source.first_line, last)] if source.lines else []
    told = (record for record in reading.records if isinstance(record, MessageRecord))
    again = [Span(source, number, number) for record in told for number in record.again]
    return [
        *again,
        *(record.span for record in reading.records),
        *(gap.span for gap in reading.gaps),
    ]


def is_border(line: str) -> bool:
    """Tell whether a line opens or closes a fence, however it is quoted, and says nothing else."""
    bare = strip_quote(line).strip().lower()
    return is_fence(bare) or bare.startswith(TAGS) or bare.startswith(("```", "~~~"))


@pytest.mark.parametrize("ticket", TICKETS, ids=lambda path: path.parent.name)
def test_no_line_of_an_incident_is_lost(ticket: Path) -> None:
    """Every line that people pasted is read, or said not to be read, or is prose."""
    assert {} == lost_lines(ticket.read_bytes())


def doubled(text: str) -> str:
    """Repeat every line, as a terminal does that echoes."""
    return "\n".join(line for line in text.split("\n") for _ in range(2))


def without_fences(text: str) -> str:
    """Take the fences out."""
    return "\n".join(line for line in text.split("\n") if not is_fence(line))


def prefixed(prefix: str) -> Callable[[str], str]:
    """Make the change that puts something before every line."""
    return lambda text: "\n".join(f"{prefix}{line}" for line in text.split("\n"))


def prompted(sign: str) -> Callable[[str], str]:
    """Make the change that puts another prompt for `$`."""
    return lambda text: text.replace("\n$ ", f"\n{sign} ")


def cut(width: int) -> Callable[[str], str]:
    """Make the change that cuts every line at a column."""
    return lambda text: "\n".join(line[:width] for line in text.split("\n"))


def tabbed(text: str) -> str:
    """Make tabs of runs of blanks."""
    return text.replace("    ", "\t")


CHANGES: dict[str, Callable[[str], str]] = {
    "doubled": doubled,
    "without fences": without_fences,
    "quoted": prefixed("> "),
    "piped": prefixed("| "),
    "stamped": prefixed("2026-11-23T09:00:00.000000Z "),
    "indented": prefixed("    "),
    "numbered": prefixed("  12  "),
    "another prompt": prompted("[root@minion:~]$"),
    "a sign for a prompt": prompted("<556> #"),
    "cut at 40": cut(40),
    "cut at 9": cut(9),
    "tabs": tabbed,
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "in a tag": lambda text: f"<pre>{text}</pre>",
    "in a tag that nobody closes": lambda text: f"<pre>{text}",
    "marked": lambda text: text.replace(".1", ".1x").replace("\n", "<br/>\n"),
}


@given(st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_line_is_lost_however_it_is_pasted(data: st.DataObject) -> None:
    """The sum holds where a ticket was quoted, indented, cut, prefixed, repeated, or bereft of its
    fences, and where lines are missing.
    """
    ticket = data.draw(st.sampled_from(TICKETS))
    lines = ticket.read_text().split("\n")
    start = data.draw(st.integers(0, max(0, len(lines) - 1)))
    end = data.draw(st.integers(start, len(lines)))
    text = "\n".join(lines[start:end])
    for name in data.draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=2, unique=True)):
        text = CHANGES[name](text)

    assert {} == lost_lines(text.encode())
