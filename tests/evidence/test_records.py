"""Records of a reading, picked by their type."""

from __future__ import annotations

from podpath.evidence.records import HeadingRecord, MessageRecord, Reading, StatementRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source, Span

SPAN = Span(Source(name="node.txt", lines=("a heading", "a message")), 1, 1)
HEADINGS = (HeadingRecord(span=SPAN, text="first"), HeadingRecord(span=SPAN, text="second"))
MESSAGE = MessageRecord(span=SPAN, kind=next(iter(MessageKind)))


def test_records_of_a_type_keep_their_order() -> None:
    """Those of other types between them are left out."""
    reading = Reading(records=(HEADINGS[0], MESSAGE, HEADINGS[1]), gaps=())
    assert ["first", "second"] == [record.text for record in reading.of(HeadingRecord)]
    assert [MESSAGE] == reading.of(MessageRecord)


def test_a_type_that_is_not_there_has_none() -> None:
    """Nothing is made up."""
    assert [] == Reading(records=HEADINGS, gaps=()).of(StatementRecord)
