"""Paths of which the kernel believes that they carry hardly anything."""

from __future__ import annotations

import pytest

from podpath.checks.routing.path_mtu_locked import check
from tests.checks.pasted import case_of

SHOWN = "# ip route get 172.17.0.3\n172.17.0.3 dev docker0 src 172.17.0.1 uid 0\n    {cached}\n"


def test_the_answer_is_quoted() -> None:
    """Both of its lines; that somebody stalls proves it."""
    (found,) = check(case_of(SHOWN.format(cached="cache expires 537sec mtu lock 552")))

    assert "mtu lock 552" in found.evidence[0].text
    assert (0.8, 1) == (found.certainty, len(found.asks))


@pytest.mark.parametrize(
    "cached", ["cache", "cache expires 599sec mtu 1400", "cache expires 599sec mtu lock 1400"]
)
def test_what_only_looks_like_it_is_let_be(cached: str) -> None:
    """The MTU of a real path, and one that somebody locked."""
    assert [] == list(check(case_of(SHOWN.format(cached=cached))))
