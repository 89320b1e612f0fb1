"""Races to insert an entry."""

from __future__ import annotations

from podpath.checks.conntrack.insert_failed import check
from tests.checks.pasted import found


def test_a_count() -> None:
    """The kernel counted them."""
    text = """
$ conntrack -S
cpu=0   	found=0 invalid=5 insert=0 insert_failed=812 drop=0 early_drop=0 error=0 search_restart=0
"""  # noqa: E501
    assert found(check, text) == [
        (
            0.7,
            (
                "cpu=0 found=0 invalid=5 insert=0 insert_failed=812 drop=0 early_drop=0 error=0 "
                "search_restart=0"
            ),
        )
    ]


def test_none() -> None:
    """Nothing was lost."""
    text = """
$ conntrack -S
cpu=0   	found=0 invalid=5 insert=0 insert_failed=0 drop=0 early_drop=0 error=0 search_restart=0
"""
    assert found(check, text) == []
