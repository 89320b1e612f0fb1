"""Neighbor tables without room."""

from __future__ import annotations

import pytest

from podpath.checks.links.neighbour_table_limit import check
from tests.checks.pasted import case_of

COUNTED = """\
# ip neigh | wc -l
{count}
# sysctl net.ipv4.neigh.default.gc_thresh3
net.ipv4.neigh.default.gc_thresh3 = {most}
"""


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [(1024, 1024, [0.8]), (1000, 1024, [0.8]), (900, 1024, []), (1024, 4096, [])],
)
def test_a_count_is_held_against_the_limit(count: int, most: int, expected: list[float]) -> None:
    """Near it counts, for the kernel throws away a few at a time."""
    found = list(check(case_of(COUNTED.format(count=count, most=most))))

    assert [one.certainty for one in found] == expected
    assert all(len(one.evidence) == 2 for one in found)


def test_a_listing_is_counted() -> None:
    """Where it is whole."""
    rows = "\n".join(
        f"10.0.0.{number} dev eth0 lladdr 02:00:00:00:00:{number:02x} STALE"
        for number in range(1, 20)
    )
    limit = "# sysctl net.ipv4.neigh.default.gc_thresh3\nnet.ipv4.neigh.default.gc_thresh3 = 20\n"
    (found,) = check(case_of(f"# ip neigh\n{rows}\n{limit}"))

    assert "has 19 entries" in str(found.claim)


def test_a_count_without_a_limit_says_nothing() -> None:
    """The default is not what counts on a node that somebody tuned."""
    assert [] == list(check(case_of("# ip neigh | wc -l\n1024\n")))
