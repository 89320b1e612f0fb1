"""Messages are found where prose quotes them, and prose itself says none."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.document import split_document
from podpath.evidence.documents.quoted import QUOTED, is_quoted
from podpath.evidence.recognition import read
from podpath.evidence.records import MessageRecord
from podpath.net.messages import MessageKind

TABLE_FULL = "nf_conntrack: table full, dropping packet"


def kinds(text: str) -> list[tuple[MessageKind, int]]:
    """Return what a document's sources say, with the lines."""
    readings = [read(source) for source in split_document("ticket.md", text.split("\n"))]
    records = [record for reading in readings if reading is not None for record in reading.records]
    return [
        (record.kind, record.span.line) for record in records if isinstance(record, MessageRecord)
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"In the log of the host we see `{TABLE_FULL}` every few minutes.",
        f'The kernel of the node says "{TABLE_FULL}" at the same time.',
        f"# {TABLE_FULL}",
        f"- kernel: {TABLE_FULL}",
    ],
)
def test_a_quoted_message_is_found(line: str) -> None:
    """Between backticks, quotation marks, in a title or a list."""
    assert kinds(f"Connections time out on a busy node.\n\n{line}\n\nWhat can we do?") == [
        (MessageKind.CONNTRACK_TABLE_FULL, 3)
    ]


def test_a_message_that_reads_as_a_sentence_is_found() -> None:
    """Programs write small words too; their clauses are parted by colons."""
    line = (
        'failed to delegate add: failed to set bridge addr: "cni0" already has an IP address '
        "different from 10.244.2.1/24"
    )
    assert kinds(f"The pod does not start:\n\n{line}") == [(MessageKind.BRIDGE_ADDRESS_DIFFERS, 3)]


@pytest.mark.parametrize(
    "line",
    [
        f"There is no `{TABLE_FULL}` in the log of the node.",
        f"We never saw `{TABLE_FULL}` on any of these hosts.",
        f"Last week the node said `{TABLE_FULL}`; that is over.",
        f"A colleague's cluster had this: `{TABLE_FULL}`. Ours is new.",
        f"First it said `{TABLE_FULL}`; I fixed that, it is gone.",
        f"The documentation warns of `{TABLE_FULL}`.",
        f"Before the update we had `{TABLE_FULL}`, since the update no more.",
        f"On the other server, which works, the log has `{TABLE_FULL}`.",
        f"If it were `{TABLE_FULL}` I would know what to do, but there is no such line.",
        f"Before: `{TABLE_FULL}`. I have made it larger, and now it only times out.",
        "We thought of a full conntrack table, but the table is not full.",
        "The file `net.ipv4.ip_forward = 0` is what we looked for in the first place.",
    ],
)
def test_what_is_denied_or_told_says_nothing(line: str) -> None:
    """A sentence that says it was not there is no evidence that it was; nor is one that tells it in
    a person's words.
    """
    assert kinds(line) == []


def test_a_quotation_states_nothing_of_the_node() -> None:
    """Of such a source only messages are read, even where a reader of outputs would know it."""
    text = (
        f"We set `net.ipv4.ip_forward = 0` and then the host said `{TABLE_FULL}` again and again."
    )
    (source,) = split_document("ticket.md", [text])
    assert is_quoted(source)
    assert source.format == QUOTED
    reading = read(source)
    assert reading is not None
    assert {type(record) for record in reading.records} == {MessageRecord}


def test_a_quotation_over_several_lines_is_one() -> None:
    """People set single backticks as if they were a fence, and forget to close them."""
    text = f"It fails.\n\n`{TABLE_FULL} of\nstart failed: code 1`\n\n"
    assert [(MessageKind.CONNTRACK_TABLE_FULL, 3)] == kinds(text)
    assert [(MessageKind.CONNTRACK_TABLE_FULL, 3)] == kinds(f"It fails.\n\n`{TABLE_FULL}\n\n")


def test_a_program_line_in_a_fence_is_read_though_it_reads_as_a_sentence() -> None:
    """What stands in a fence was printed, unless somebody speaks of themselves."""
    said = "TLS key negotiation failed to occur within 60 seconds"

    assert [(MessageKind.HANDSHAKE_UNANSWERED, 4)] == kinds(
        f"The VPN does not connect.\n\n```\nTLS Error: {said} (check your network)\n```"
    )
    assert [] == kinds(f"The VPN connects.\n\n```\nAfter the fix we saw that no {said} came.\n```")
