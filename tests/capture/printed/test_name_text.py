"""DNS messages are written as tcpdump writes them, without an answer's records."""

from __future__ import annotations

import struct

import pytest

from podpath_capture.printed.name_text import render_message

SOA = b"\0\6\0\1"
NAME = b"\7example\3com\0"


def message(flags: int, *counts: int, question: bytes = NAME + b"\0\x1c\0\1") -> bytes:
    """Make a message with number 7: flags, how many questions, answers, authorities and others."""
    return struct.pack(">6H", 7, flags, *counts) + question


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (message(0x0100, 1, 0, 0, 0), "7+ AAAA? example.com. (40)"),
        (message(0x0010, 1, 0, 0, 1), "7% [1au] AAAA? example.com. (40)"),
        (message(0x8580, 1, 2, 0, 1), "7* 2/0/1 (40)"),
        (message(0x8183, 1, 0, 1, 0), "7 NXDomain 0/1/0 (40)"),
        (message(0x8302, 1, 0, 0, 0), "7 ServFail-| 0/0/0 (40)"),
        (message(0x81AF, 1, 0, 0, 0), "7 Resp15$ 0/0/0 (40)"),
        (message(0x2800, 1, 0, 0, 0, question=NAME + SOA), "7 update SOA? example.com. (40)"),
        (message(0x3000, 2, 0, 0, 0), "7 op6 [2q] (40)"),
        (message(0x0100, 1, 0, 0, 0, question=b"\0\1\0\0\1"), "7+ Type256? . (40)"),
        (message(0x0100, 1, 0, 0, 0, question=NAME[:9]), "7+ (40)"),
        (message(0x0100, 1, 0, 0, 0, question=b"\2a \0\0\1\0\1"), "7+ (40)"),
    ],
)  # fmt: skip
def test_messages_are_written(made: bytes, text: str) -> None:
    """The identifier, what is asked for and the flags; a name that is not whole is left out."""
    assert text == render_message(made, 40)
