"""Packets dropped for want of room."""

from __future__ import annotations

from podpath.checks.conntrack.tracking_drops import check
from tests.checks.pasted import found


def test_a_count() -> None:
    """The kernel counted them."""
    text = """
$ conntrack -S
cpu=0   	found=0 invalid=5 insert=0 insert_failed=812 drop=7 early_drop=0 error=0 search_restart=0
"""  # noqa: E501
    assert found(check, text) == [
        (
            0.7,
            (
                "cpu=0 found=0 invalid=5 insert=0 insert_failed=812 drop=7 early_drop=0 error=0 "
                "search_restart=0"
            ),
        )
    ]


def test_none() -> None:
    """Nothing was dropped."""
    text = """
$ conntrack -S
cpu=0   	found=0 invalid=5 insert=0 insert_failed=812 drop=0 early_drop=0 error=0 search_restart=0
"""  # noqa: E501
    assert found(check, text) == []


def test_what_lost_a_race_is_counted_twice() -> None:
    """As many drops as failed inserts are the same packets."""
    text = """
$ conntrack -S
cpu=0   	found=0 invalid=5 insert=0 insert_failed=812 drop={drop} early_drop=0 error=0 search_restart=0
"""  # noqa: E501
    assert found(check, text.format(drop=812)) == []
    assert len(found(check, text.format(drop=1000))) == 1
