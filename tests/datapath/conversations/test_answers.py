"""Tests of what a host answers to a packet that no socket takes."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.answers import refuse
from podpath.net import protocols
from tests.datapath.walks import packet

SYN, ACK, RST, PSH = protocols.SYN, protocols.ACK, protocols.RST, protocols.PSH


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"flags": SYN}, (RST | ACK, 0, 1)),
        ({"flags": SYN | ACK, "ack": 1}, (RST, 1, 0)),
        ({"flags": PSH | ACK, "ack": 7, "payload": 100}, (RST, 7, 0)),
    ],
)
def test_tcp_answers_with_a_reset(fields: dict[str, int], answer: tuple[int, int, int]) -> None:
    """A segment with an acknowledgement is reset at that number; one without is acknowledged by the
    reset.
    """
    found = refuse(packet("10.0.0.1", "10.0.0.2", **fields))

    assert found is not None
    assert (answer, "10.0.0.2", 80) == (
        (found.flags, found.seq, found.ack),
        str(found.src),
        found.sport,
    )


def test_a_reset_is_not_answered() -> None:
    """Nobody answers a reset."""
    assert None is refuse(packet("10.0.0.1", "10.0.0.2", flags=RST))


def test_udp_answers_with_port_unreachable() -> None:
    """A datagram for a closed port is answered by an ICMP error from the address that it was
    for.
    """
    found = refuse(packet("10.0.0.1", "10.0.0.2", protocol=17))

    assert found is not None
    assert (1, 3, 3, "10.0.0.2") == (
        found.protocol,
        found.icmp_type,
        found.icmp_code,
        str(found.src),
    )


def test_an_echo_reply_that_nobody_waits_for_is_not_answered() -> None:
    """ICMP is not answered with ICMP."""
    assert None is refuse(packet("10.0.0.1", "10.0.0.2", protocol=1, icmp_type=0))


def test_udp_over_ipv6_answers_with_its_own_port_unreachable() -> None:
    """ICMPv6's type and code; the quote is as long as the family allows."""
    small, large = (packet("fd00::1", "fd00::2", protocol=17, length=size) for size in (100, 4000))
    found, longest = refuse(small), refuse(large)

    assert found is not None
    assert longest is not None
    assert (protocols.ICMPV6, 1, 4, "fd00::2", 148) == (
        found.protocol,
        found.icmp_type,
        found.icmp_code,
        str(found.src),
        found.length,
    )
    assert 1280 == longest.length
    assert 576 == refuse(packet("10.0.0.1", "10.0.0.2", protocol=17, length=4000)).length  # type: ignore[union-attr]  # it answers


def test_what_is_broken_or_no_transport_is_not_answered() -> None:
    """A bad checksum, and a protocol without ports."""
    for protocol in (6, 17):
        assert None is refuse(packet("10.0.0.1", "10.0.0.2", protocol=protocol, bad_checksum=True))
    assert None is refuse(packet("10.0.0.1", "10.0.0.2", protocol=protocols.ICMP))


def test_nobody_in_particular_is_told_of_a_closed_port() -> None:
    """The unspecified address is no host's."""
    assert None is refuse(packet("::", "fd00::2", protocol=protocols.UDP))


def test_an_answer_has_the_precedence_of_what_it_answers() -> None:
    """A reset has its whole TOS, an error that of network control."""
    reset, error = (
        refuse(packet("10.0.0.1", "10.0.0.2", protocol=one, tos=0x1C)) for one in (6, 17)
    )

    assert reset is not None
    assert error is not None
    assert (0x1C, 0xDC) == (reset.tos, error.tos)


def test_an_error_may_be_fragmented() -> None:
    """An ICMP error carries no DF (net/ipv4/icmp.c:icmp_send v6.12)."""
    found = refuse(packet("10.0.0.1", "10.0.0.2", protocol=protocols.UDP, dont_fragment=True))

    assert found is not None
    assert not found.dont_fragment
