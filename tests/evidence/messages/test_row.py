"""A row of the table of messages, as it is written in a family's module."""

from __future__ import annotations

from podpath.evidence.messages.row import make_row
from podpath.net.messages import MessageKind


def test_a_sign_is_its_own_pattern_as_it_stands() -> None:
    """Where no pattern is given, the sign's characters stand for themselves."""
    row = make_row(MessageKind.XTABLES_LOCKED, "lock (xtables)")
    assert row.pattern.search("holding the lock (xtables) now")
    assert not row.pattern.search("holding the lock xtables now")
