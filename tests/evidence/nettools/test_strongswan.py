"""Ranges that strongSwan says it has policies for (5.9.8)."""

from __future__ import annotations

import pytest

from podpath.evidence.nettools import strongswan
from podpath.evidence.node_records import XfrmPolicyRecord
from podpath.net.provenance import Source

STATUS = """\
Security Associations (1 up, 0 connecting):
      branch[3]: ESTABLISHED 2 hours ago, 198.51.100.9[gate]...203.0.113.40[branch]
      branch{7}:  INSTALLED, TUNNEL, reqid 1, ESP in UDP SPIs: c3a1f00d_i c9be77aa_o
      branch{7}:   10.42.0.0/16 10.43.0.0/24 === 10.31.0.0/16
"""


def read(text: str) -> tuple[list[str], int]:
    """Return the pairs of ranges that are read, and how many lines are not."""
    reading = strongswan.read(Source(name="t", lines=tuple(text.splitlines())))
    policies = [one for one in reading.records if isinstance(one, XfrmPolicyRecord)]
    return [f"{one.direction} {one.src} {one.dst}" for one in policies], len(reading.gaps)


def test_each_pair_of_ranges_is_a_policy() -> None:
    """A child may have several ranges at an end."""
    assert (["out 10.42.0.0/16 10.31.0.0/16", "out 10.43.0.0/24 10.31.0.0/16"], 0) == read(STATUS)


@pytest.mark.parametrize(
    ("line", "pairs", "gaps"),
    [
        ("      a{1}:   10.1.0.1/32[tcp/http] === 10.2.0.0/16", [], 1),
        ("  Bypass LAN 10.1.0.0/24:  10.1.0.0/24 === 10.1.0.0/24 PASS", [], 1),
        (
            "      a{1}:   10.1.0.0/16 2001:db8::/64 === 10.2.0.0/16",
            ["out 10.1.0.0/16 10.2.0.0/16"],
            0,
        ),
        ("      a{1}:   10.1.0.0/99 === 10.2.0.0/16", [], 1),
        ("what somebody wrote", [], 1),
    ],
)
def test_what_is_no_tunnels_range_is_a_gap(line: str, pairs: list[str], gaps: int) -> None:
    """A policy of one port is not its range's, and one that exempts a range is no tunnel's."""
    assert (pairs, gaps) == read(f"{line}\n")


def test_other_outputs_are_not_claimed() -> None:
    """A line with three equal signs is needed, between ranges of a child."""
    lines = ("=== RUN   TestDial", "a === b")

    assert strongswan.recognise(Source(name="t", lines=lines)) == 0
    assert strongswan.recognise(Source(name="t", lines=tuple(STATUS.splitlines()))) > 0
