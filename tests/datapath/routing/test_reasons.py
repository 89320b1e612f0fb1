"""Tests of the names of drop reasons."""

from __future__ import annotations

import pytest

from podpath.datapath.routing.reasons import REASONS, drop_reason
from podpath.datapath.vocabulary import DropCause


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (None, "NOT_SPECIFIED"),
        ("6.12.9", "NOT_SPECIFIED"),
        ("6.18.4-fc", "IP_LOCAL_SOURCE"),
        ("odd", "NOT_SPECIFIED"),
    ],
)
def test_names_follow_the_kernels_version(kernel: str | None, reason: str) -> None:
    """A cause has the name that the node's kernel has for it."""
    assert reason == drop_reason(DropCause.LOCAL_SOURCE, kernel)


def test_every_cause_has_a_name_in_every_version() -> None:
    """Each row reaches back to the beginning, and its newest name stands first."""
    for rows in REASONS.values():
        assert (0, 0) == rows[-1][0]
        assert sorted((since for since, _ in rows), reverse=True) == [since for since, _ in rows]
