"""Frames of captures put together to connections: kinds, ends, and what is missing where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.connections import kind_of, observe
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.case import Sighting
from podpath.testing.nodes import ip
from tests.datapath.walks import packet
from tests.diagnosis.scenes import ACK, PUSH, SYN, SYN_ACK, frame

FORTH, BACK = "10.0.0.1:4000 > 10.0.0.2:80", "10.0.0.2:80 > 10.0.0.1:4000"
FIN = protocols.FIN | protocols.ACK


@pytest.mark.parametrize(
    ("flags", "payload", "kind"),
    [
        (SYN, 0, "SYN"), (SYN_ACK, 0, "SYN-ACK"), (ACK, 0, "ACK"), (ACK, 5, "data"), (PUSH, 0, "data"),  # noqa: E501
        (FIN, 0, "FIN"), (FIN, 5, "data"), (protocols.RST | protocols.SYN, 0, "RST"),
    ],
)  # fmt: skip
def test_a_segment_is_named_by_its_flags(flags: int, payload: int, kind: str) -> None:
    """A reset is one whatever else it says; data may carry the end."""
    assert kind == kind_of(packet("10.0.0.1", "10.0.0.2", flags=flags, payload=payload))


def echo(kind: int, protocol: int = protocols.ICMP) -> Packet:
    """Make an ICMP message between two hosts."""
    return Packet(ip("10.0.0.1"), ip("10.0.0.2"), protocol, icmp_type=kind)


def test_other_packets_are_requests_replies_or_datagrams() -> None:
    """Echo has both directions by its type."""
    udp = packet("10.0.0.1", "10.0.0.2", protocol=protocols.UDP)

    assert ["request", "reply", "datagram"] == [kind_of(one) for one in (echo(8), echo(0), udp)]


def test_a_connection_is_that_of_who_began_it() -> None:
    """Frames are in the order of the capture; what only answers begins nothing."""
    syn, answer = frame(FORTH, SYN, "in eth0"), frame(BACK, SYN_ACK, "out eth0", seq=9)
    (connection,) = observe((syn, answer))

    assert "tcp 10.0.0.1:4000 > 10.0.0.2:80" == str(connection.probe)
    assert [("SYN", True), ("SYN-ACK", False)] == [
        (seen.kind, seen.original) for seen in connection.seen
    ]
    assert () == observe((answer,))
    assert () == observe((replace(syn, packet=echo(3)),))


def test_one_connection_has_several_addresses() -> None:
    """Where a SYN under other addresses has the same sequence number."""
    inner, outer = (
        frame(FORTH, SYN, "in lxc1"),
        frame("10.9.0.2:4000 > 10.0.0.2:80", SYN, "out eth0"),
    )
    other = frame("10.9.0.3:4000 > 10.0.0.2:80", SYN, "out eth0", seq=8)

    assert [2] == [len(each.seen) for each in observe((inner, outer))]
    assert [1, 1] == [len(each.seen) for each in observe((inner, other))]


def missing(*frames: Sighting) -> list[tuple[str, str | None]]:
    """Return what was seen to be missing, and where."""
    return [(each.kind, each.place.link) for one in observe(frames) for each in one.missing]


def test_a_packet_that_did_not_leave_where_the_syn_left_is_missing() -> None:
    """By the capture that saw the SYN at both places; data and ACK each for themselves."""
    syn = frame(FORTH, SYN, "in lxc1"), frame(FORTH, SYN, "out eth0")
    ack, data = frame(FORTH, ACK, "in lxc1", seq=8), frame(FORTH, PUSH, "in lxc1", seq=8, payload=5)

    assert [("ACK", "eth0"), ("data", "eth0")] == missing(*syn, ack, data)
    assert [("data", "eth0")] == missing(*syn, ack, frame(FORTH, ACK, "out eth0", seq=8), data)
    assert [] == missing(syn[0], ack, data)
    assert [] == missing(*syn)


def test_another_capture_says_nothing_of_what_it_did_not_see() -> None:
    """Only one that saw the SYN at both places counts, whatever came before it."""
    first = frame(FORTH, SYN, "in lxc1", 0), frame(FORTH, ACK, "in lxc1", 0, seq=8)
    second = (
        frame(FORTH, SYN, "in lxc1", 1), frame(FORTH, SYN, "out eth0", 1),
        frame(FORTH, ACK, "in lxc1", 1, seq=8),
    )  # fmt: skip

    assert [] == missing(*first)
    assert [("ACK", "eth0")] == missing(*first, *second)
