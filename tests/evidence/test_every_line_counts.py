"""The sum that holds for every reader: each line of a block that is not blank stands in the span of
a record or of a gap.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.evidence.formats import Format
from podpath.evidence.recognition import FORMATS
from podpath.net.provenance import Source
from tests.evidence.consoles import consoles, lines_of, uncovered

CONSOLES = consoles()
JUNK = (
    "",
    "   ",
    "...",
    "--",
    "[snip]",
    "wait, what is this?",
    "# a remark",
    "$ ",
    "]",
    "},{",
    "\x1b[31mred\x1b[0m",
    "10.244.x.x dev eth0",
)


def name_of(source: Source) -> str:
    """Name a fixture as a test's id."""
    return source.name


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_reader_accounts_for_every_line_of_every_output(row: Format) -> None:
    """Even a reader that is given another format's output keeps each line as a gap."""
    assert {} == {
        source.name: lost for source in CONSOLES if (lost := uncovered(source, row.read(source)))
    }


@pytest.mark.parametrize("source", CONSOLES, ids=name_of)
def test_spans_lie_in_their_source(source: Source) -> None:
    """A span never points outside of the block, and quotes text that is there."""
    for row in FORMATS:
        reading = row.read(source)
        for span in [record.span for record in reading.records] + [
            gap.span for gap in reading.gaps
        ]:
            inside = range(source.first_line, source.first_line + max(1, len(source.lines)))
            assert span.source is source
            assert set(lines_of(span)) <= set(inside)


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_every_line_counts_in_fragments(data: st.DataObject) -> None:
    """The sum holds too where lines were left out, repeated, or mixed with what somebody typed in
    between.
    """
    source = data.draw(st.sampled_from(CONSOLES))
    some = source.lines[:60]
    lines = data.draw(
        st.lists(st.sampled_from([*some, *JUNK]) if some else st.sampled_from(JUNK), max_size=12)
    )
    fragment = Source(
        name="ticket.md",
        lines=tuple(lines),
        command=data.draw(st.sampled_from((None, source.command))),
    )

    for row in FORMATS:
        assert [] == uncovered(fragment, row.read(fragment))
