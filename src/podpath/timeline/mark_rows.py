"""Lines of the kernel, of udev, of network daemons that mean something: patterns, each with what it
tells of.

What a diagnosis knows as a message is known here by the same pattern; rows of its own say what only
a chronicle asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.evidence.messages.table import ROWS
from podpath.net.messages import MessageKind
from podpath.net.word_file import read_word_file
from podpath.timeline.mark_kinds import MarkKind


class MarkRow(NamedTuple):
    """A kind of message."""

    pattern: re.Pattern[str]
    kind: MarkKind
    verb: str
    subjects: tuple[str, ...] = ("subject", "other", "third")
    """The pattern's groups that name what it is about."""
    sign: str = ""
    """Words that every such message holds: one without them need not meet the pattern."""


class MarkRows(NamedTuple):
    """Rows, of which the first that fits counts; most messages are none of theirs, which is seen at
    once.
    """

    rows: tuple[MarkRow, ...]
    signs: frozenset[str]
    """One of them stands in every message of a row that has a sign."""
    unsigned: re.Pattern[str]
    """It is found wherever one of the other rows' patterns is."""

    def may_fit(self, message: str) -> bool:
        """Tell whether a message is worth meeting the rows."""
        return (
            any(sign in message for sign in self.signs) or self.unsigned.search(message) is not None
        )


_NAMED = re.compile(r"\(\?P<\w+>")


def join_rows(rows: tuple[MarkRow, ...]) -> MarkRows:
    """Prepare rows to be asked of many messages."""
    parts = dict.fromkeys(_NAMED.sub("(?:", row.pattern.pattern) for row in rows if not row.sign)
    unsigned = "|".join(f"(?:{part})" for part in parts)
    signs = frozenset(row.sign for row in rows if row.sign)
    return MarkRows(rows, signs, re.compile(unsigned or r"(?!)"))


def _read_row(row: Sequence[str]) -> MarkRow:
    pattern, kind, verb, *sign = row
    return MarkRow(re.compile(pattern), MarkKind(kind), verb, sign=next(iter(sign), ""))


def _said(kind: MessageKind, mark: str, verb: str, *subjects: str) -> tuple[MarkRow, ...]:
    """Return the rows of a kind of message, by the patterns that a diagnosis knows it by."""
    return tuple(
        MarkRow(row.pattern, MarkKind(mark), verb, subjects, row.sign)
        for row in ROWS
        if row.kind is kind
    )


def _join(rows: Sequence[tuple[MarkRow, ...]]) -> tuple[MarkRow, ...]:
    return tuple(row for some in rows for row in some)


SAID: tuple[MarkRow, ...] = _join(
    (
        _said(MessageKind.CONNTRACK_TABLE_FULL, "conntrack", "full"),
        _said(MessageKind.NEIGHBOUR_TABLE_FULL, "neighbour", "full", "table"),
        _said(MessageKind.DUPLICATE_ADDRESS, "address", "duplicate", "device"),
        _said(MessageKind.MARTIAN_SOURCE, "martian", "seen", "device"),
        _said(MessageKind.BRIDGE_NETFILTER_GONE, "module", "without br_netfilter"),
        _said(MessageKind.PROCESS_KILLED, "memory", "killed", "program"),
        _said(MessageKind.TRANSMIT_TIMEOUT, "link", "stuck", "device"),
        _said(MessageKind.DEVICE_RESET, "link", "stuck", "device"),
        _said(MessageKind.XDP_QUEUE_HANGS, "link", "stuck", "device"),
        _said(MessageKind.CARD_DETACHED, "link", "down", "device"),
        _said(MessageKind.BOND_WITHOUT_LINK, "link", "down", "bond"),
        _said(MessageKind.OWN_ADDRESS_RECEIVED, "link", "own address received", "bridge"),
    )
)
"""Messages of the table that a diagnosis searches, with what they mean to a chronicle."""
_FILE = read_word_file("podpath.timeline", "mark_rows.toml")
KERNEL: tuple[MarkRow, ...] = tuple(map(_read_row, _FILE["kernel"]))
OWN: re.Pattern[str] = re.compile(
    "|".join(f"(?P<{verb}>{pattern})" for verb, pattern in _FILE["own"].items())
)
"""What a program that talks of much else says of itself: its verb is the group's name."""
READS: Mapping[str, re.Pattern[str]] = {
    tool: re.compile(pattern) for tool, pattern in _FILE["reads"].items()
}
"""By program, what stands behind it where it only reads."""
ANYBODY: tuple[MarkRow, ...] = tuple(map(_read_row, _FILE["anybody"]))
