"""Tests for tuples and their inverses."""

from __future__ import annotations

from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from podpath.datapath.conntrack.tuples import (
    inverse,
    inverse_kind,
    packet_key,
    packet_kind,
    packet_tuple,
    tuple_key,
)
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

PACKETS = st.builds(
    Packet,
    st.integers(0, 2**32 - 1).map(lambda value: Address(4, value)),
    st.integers(0, 2**32 - 1).map(lambda value: Address(4, value)),
    st.sampled_from((protocols.TCP, protocols.UDP, protocols.ICMP, protocols.SCTP, protocols.GRE)),
    st.integers(0, 65535),
    st.integers(0, 65535),
    icmp_type=st.sampled_from((0, 8, 13, 3)),
)


@hypothesis_given(PACKETS, st.integers(0, 7))
def test_a_packets_key_is_the_key_of_its_tuple(packet: Packet, zone: int) -> None:
    """The short way and the long way to a key give the same."""
    assert tuple_key(packet_tuple(packet), packet_kind(packet), zone) == packet_key(packet, zone)


@hypothesis_given(PACKETS)
def test_the_inverse_of_the_inverse_is_the_tuple(packet: Packet) -> None:
    """Answers to answers have the first tuple."""
    entry = packet_tuple(packet)

    assert entry == inverse(inverse(entry))


def test_queries_and_answers_are_inverse_kinds() -> None:
    """An echo reply answers an echo request; an error has no answer."""
    assert (0, 8 << 8, 129 << 8) == (
        inverse_kind(protocols.ICMP, 8 << 8),
        inverse_kind(protocols.ICMP, 0),
        inverse_kind(protocols.ICMPV6, 128 << 8),
    )
    assert inverse_kind(protocols.ICMP, 3 << 8) is None
    assert 0 == inverse_kind(protocols.TCP, 0)


def test_families_do_not_share_keys() -> None:
    """::1 and 0.0.0.1 have one number and two keys."""
    four = Packet(Address(4, 1), Address(4, 2), 6, 1, 2)
    six = Packet(Address(6, 1), Address(6, 2), 6, 1, 2)

    assert packet_key(four, 0) != packet_key(six, 0)
