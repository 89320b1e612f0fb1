"""Tests for TCP options and routes in rules of nftables."""

from __future__ import annotations

import pytest

from podpath.datapath.nftables.segments import SEGMENT_SIZE, route_field, tcp_option_field
from podpath.net import nft, protocols
from podpath.net.packet import Packet
from tests.datapath.given import tcp
from tests.datapath.nftables.test_matching import changed, drops

SYN = tcp(dport=80, flags=protocols.SYN)._replace(length=60, mss=1460)


@pytest.mark.parametrize(
    ("condition", "packet", "matched"),
    [
        ("tcp option maxseg size 1460", SYN, True),
        ("tcp option maxseg size 1-1459", SYN, False),
        ("tcp option maxseg size > 1400", SYN, True),
        ("tcp option maxseg size 1460", SYN._replace(mss=0), None),
        ("tcp option maxseg size != 1460", SYN._replace(flags=protocols.ACK), False),
        ("tcp option maxseg size != 1460", SYN._replace(length=40), False),
        ("rt mtu 1460", SYN, False),
    ],
)
def test_a_condition_reads_what_the_syn_offers(
    condition: str, packet: Packet, *, matched: bool | None
) -> None:
    """What carries no such option, or has no route yet, ends the rule; an offer that nobody knows
    leaves it open.
    """
    assert matched is drops(condition, packet)


@pytest.mark.parametrize(
    ("statement", "packet", "mss"),
    [
        ("tcp option maxseg size set 1300", SYN, 1300),
        ("tcp option maxseg size set 1500", SYN, 1460),
        ("tcp option maxseg size set rt mtu", SYN, 1460),
        ("tcp option maxseg size set 1300", SYN._replace(length=40, mss=0), 0),
        ("tcp option maxseg size set 1300", SYN._replace(flags=protocols.ACK, mss=0), 0),
    ],
)
def test_a_statement_only_lowers_it(statement: str, packet: Packet, mss: int) -> None:
    """It never grows, and what has no such option gets none."""
    assert mss == changed(statement, packet).packet.mss


def test_what_is_not_modeled_is_said() -> None:
    """Other options and other keys of a route are refused by name."""
    assert "integer" == tcp_option_field(SEGMENT_SIZE).datatype
    with pytest.raises(ValueError, match="saw timestamp tsval"):
        tcp_option_field(nft.TcpOption("timestamp", "tsval"))
    with pytest.raises(ValueError, match="saw classid"):
        route_field(nft.Rt("classid"))
