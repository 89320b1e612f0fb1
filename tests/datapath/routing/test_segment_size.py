"""Tests for the maximum segment size that routes offer and paths bear."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.routing.segment_size import PathMss, lower_mss, offered_mss
from podpath.datapath.tracing.destination import Destination
from podpath.net import protocols
from podpath.net.addresses import Family, Prefix
from podpath.net.provenance import Basis, Inferred
from podpath.node.routing import Route
from tests.datapath.given import tcp

WAY = Destination("unicast", None, None, None, Route(prefix=Prefix.parse("0.0.0.0/0")), 1500)
SYN = tcp(dport=80, flags=protocols.SYN)._replace(length=60, mss=1460)


@pytest.mark.parametrize(
    ("mtu", "family", "mss"),
    [
        (1500, 4, 1460),
        (1500, 6, 1440),
        (65536, 4, 65495),
        (65536, 6, 65476),
        (200, 4, 256),
        (1280, 6, 1220),
    ],
)
def test_a_route_offers_its_mtu_without_headers(mtu: int, family: Family, mss: int) -> None:
    """Never more than the longest packet bears, and never less than the kernel's least."""
    assert mss == offered_mss(replace(WAY, mtu=mtu), family)


def test_a_route_may_name_what_it_offers() -> None:
    """`advmss` stands before the MTU."""
    assert WAY.route is not None
    named = replace(WAY, route=replace(WAY.route, advmss=1000))

    assert 1000 == offered_mss(named, 4)


def test_an_mtu_that_nobody_shows_offers_nothing() -> None:
    """Unknown stays unknown."""
    assert 0 == offered_mss(replace(WAY, mtu_inferred=Inferred(Basis.BEYOND, "the MTU")), 4)


def test_an_offer_never_grows() -> None:
    """It is lowered, and one that nobody knows is bounded."""
    assert 1400 == lower_mss(SYN, PathMss(1400)).mss
    assert SYN == lower_mss(SYN, PathMss(1500))
    assert 1400 == lower_mss(SYN._replace(mss=0), PathMss(1400)).mss
    assert 0 == lower_mss(SYN, PathMss(1400, exact=False)).mss


def test_a_syn_without_options_gets_one() -> None:
    """Four bytes longer, with no more than every host takes; not where data follows."""
    bare = SYN._replace(length=40, mss=0)

    assert bare._replace(length=44, mss=536) == lower_mss(bare, PathMss(1400))
    assert bare._replace(length=44, mss=300) == lower_mss(bare, PathMss(300))
    full = bare._replace(length=140, payload=100)
    assert full == lower_mss(full, PathMss(1400))
