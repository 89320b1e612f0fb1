"""A row of the table of messages, as it is written in a family's file."""

from __future__ import annotations

import pytest

from podpath.evidence.messages.row import MessagePattern, make_row, parse_rows, read_rows
from podpath.evidence.messages.table import FAMILIES
from podpath.net.messages import MessageKind


def test_a_sign_is_its_own_pattern_as_it_stands() -> None:
    """Where no pattern is given, the sign's characters stand for themselves."""
    row = make_row(MessageKind.XTABLES_LOCKED, "lock (xtables)")
    assert row.pattern.search("holding the lock (xtables) now")
    assert not row.pattern.search("holding the lock xtables now")


FAMILY = r"""
parts.NAME = '[a-z]+\d*'
parts.PLACE = 'on (?P<device>%{NAME})'

rows = [
  ["lease given", "lease (new)"],
  ["lease given", "lease", 'lease %{PLACE} of %{NAME}'],
]
"""


def test_a_family_is_read_in_its_order() -> None:
    """A part stands wherever its name does, in patterns and in later parts."""
    assert (
        make_row(MessageKind.LEASE_GIVEN, "lease (new)"),
        make_row(MessageKind.LEASE_GIVEN, "lease", r"lease on (?P<device>[a-z]+\d*) of [a-z]+\d*"),
    ) == parse_rows(FAMILY)


@pytest.mark.parametrize(
    ("right", "wrong"), [("lease given", "lease gone"), ("of %{NAME}", "of %{NOBODY}")]
)
def test_a_misspelled_row_is_refused(right: str, wrong: str) -> None:
    """Neither a kind nor a part that does not exist is passed over."""
    with pytest.raises((ValueError, KeyError)):
        parse_rows(FAMILY.replace(right, wrong))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_row_of_a_family_can_be_found(family: str) -> None:
    """Each pattern compiles, and no row stands twice."""
    rows: tuple[MessagePattern, ...] = read_rows(family)
    assert all(row.pattern.flags for row in rows)
    assert len(rows) == len(set(rows))
