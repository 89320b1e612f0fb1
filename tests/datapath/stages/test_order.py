"""Tests of the order of stages, as data."""

from __future__ import annotations

import re

import pytest

from podpath.datapath.stages.order import ORDER, Path
from podpath.datapath.tracing.paths import (
    BRIDGE,
    EMIT,
    FORWARD,
    LOCAL,
    OUTPUT,
    RECEIVE,
    REDIRECT,
    RESET,
    TRANSMIT,
    PathName,
)
from podpath.net.addresses import Family

FAMILIES: tuple[Family, ...] = (4, 6)
CITATION = re.compile(r"[\w/]+/[\w.-]+\.c:\w+ v\d+\.\d+")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_path_is_there_in_both_families(family: Family) -> None:
    """IPv4 and IPv6 have the same paths, with the same stages in the same order."""
    paths = {RECEIVE, LOCAL, FORWARD, OUTPUT, TRANSMIT, REDIRECT, BRIDGE, EMIT, RESET}

    assert paths == set(ORDER[family])
    assert {name: names(path) for name, path in ORDER[4].items()} == {
        name: names(path) for name, path in ORDER[family].items()
    }


def names(path: Path) -> list[str]:
    """Return the names of a path's stages."""
    return [stage.name for stage in path]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_row_cites_the_kernel_with_its_version(family: Family) -> None:
    """Each row names a function of the kernel by file and version; IPv6 has its own where they
    differ.
    """
    rows = [stage for path in ORDER[family].values() for stage in path]

    assert [] == [row.function for row in rows if not CITATION.fullmatch(row.function)]
    assert not any("net/ipv4" in row.function for row in rows) or family == 4


@pytest.mark.parametrize(
    ("path", "first", "then"),
    [
        (RECEIVE, "PREROUTING", "route input"),
        (FORWARD, "forward", "FORWARD"),
        (OUTPUT, "route output", "OUTPUT"),
        (TRANSMIT, "POSTROUTING", "fragmentation"),
        (TRANSMIT, "neighbour", "tc egress"),
    ],
)
def test_what_comes_before_what(path: PathName, first: str, then: str) -> None:
    """The order that matters most: NAT before routing, TTL and MTU before FORWARD, source NAT
    before the MTU of local packets.
    """
    order = names(ORDER[4][path])

    assert order.index(first) < order.index(then)
