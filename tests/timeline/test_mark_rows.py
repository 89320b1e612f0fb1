"""The tables of messages that mean something."""

from __future__ import annotations

from podpath.timeline.mark_rows import ANYBODY, KERNEL, SAID, join_rows
from podpath.timeline.marks import WEIGHTS


def test_every_row_has_a_kind_with_a_weight() -> None:
    """No row names a kind that nobody weighs."""
    assert {row.kind for row in (*SAID, *KERNEL, *ANYBODY)} <= set(WEIGHTS)


def test_rows_differ() -> None:
    """No pattern stands twice."""
    patterns = [row.pattern.pattern for row in (*SAID, *KERNEL, *ANYBODY)]

    assert len(patterns) == len(set(patterns))


def test_a_sign_stands_in_what_its_pattern_finds() -> None:
    """A row's sign is a part of its pattern, spelled without escapes: no message is passed over
    because of it.
    """
    signed = [row for row in (*KERNEL, *ANYBODY) if row.sign]

    assert len(signed) > 10
    assert [] == [
        row.sign for row in signed if row.sign not in row.pattern.pattern.replace("\\", "")
    ]


def test_most_messages_meet_no_row() -> None:
    """A message may fit where it holds a sign, or what a row without a sign asks for."""
    rows = join_rows((*KERNEL, *ANYBODY))

    assert rows.may_fit("br0: port 2(veth1) entered blocking state")
    assert rows.may_fit("Linux version 6.1.0-13-amd64")
    assert not rows.may_fit("operation started for volume kube-api-access-x")
    assert not join_rows(()).may_fit("Linux version 6.1.0-13-amd64")
