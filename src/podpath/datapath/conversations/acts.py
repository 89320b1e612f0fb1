"""What the two ends of a connection send each other, packet by packet.

In comes a protocol, or a probe; out go the packets of a short exchange as acts: which end sends
each, with which flags and how much data. An act becomes a packet once its addresses are known.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.probe import Probe

HEADERS: dict[int, int] = {
    protocols.TCP: 52,
    protocols.UDP: 28,
    protocols.ICMP: 28,
    protocols.ICMPV6: 48,
}
"""Bytes of the IP and transport headers, TCP's with a timestamp."""
LONGER_HEADER = 20
"""Bytes that IPv6's header is longer than IPv4's."""
SYN_OPTIONS = 8
PAYLOAD = 100
"""Bytes of data: small enough for every MTU."""
ECHO_PAYLOAD = 56
"""Bytes of data in an echo request, as ping(8) sends them."""


class Act(NamedTuple):
    """One packet of the exchange."""

    name: str
    reply: bool
    flags: int = 0
    seq: int = 0
    ack: int = 0
    payload: int = 0
    kind: int = 0
    """ICMP type."""
    full: bool = False
    """True for a packet as large as both ends take: its payload is what they agreed on."""


_SCRIPTS: dict[int, tuple[Act, ...]] = {
    protocols.TCP: (
        Act("SYN", False, protocols.SYN),
        Act("SYN-ACK", True, protocols.SYN | protocols.ACK, 0, 1),
        Act("ACK", False, protocols.ACK, 1, 1),
        Act("data", False, protocols.PSH | protocols.ACK, 1, 1, PAYLOAD),
        Act("data reply", True, protocols.PSH | protocols.ACK, 1, 1 + PAYLOAD, PAYLOAD),
    ),
    protocols.UDP: (Act("request", False, payload=PAYLOAD), Act("reply", True, payload=PAYLOAD)),
    protocols.ICMP: (
        Act("echo request", False, kind=8, payload=ECHO_PAYLOAD),
        Act("echo reply", True, payload=ECHO_PAYLOAD),
    ),
    protocols.ICMPV6: (
        Act("echo request", False, kind=128, payload=ECHO_PAYLOAD),
        Act("echo reply", True, kind=129, payload=ECHO_PAYLOAD),
    ),
}
"""What is sent, by protocol."""
_FULL_DATA = (
    Act("full data", False, protocols.PSH | protocols.ACK, 1 + PAYLOAD, 1 + PAYLOAD, full=True),
    Act(
        "full data reply", True, protocols.PSH | protocols.ACK, 1 + PAYLOAD, 1 + PAYLOAD, full=True
    ),
)
"""What a TCP connection sends beyond, where not everything on its way takes them for sure: packets
that fill the MTU of its ends.
"""
_MIDWAY = (
    Act("data", False, protocols.PSH | protocols.ACK, 1, 1, PAYLOAD),
    Act("data reply", True, protocols.PSH | protocols.ACK, 1, 1 + PAYLOAD, PAYLOAD),
)
"""What is sent on a TCP connection that stands already."""

ECHO = frozenset({protocols.ICMP, protocols.ICMPV6})
"""Protocols of which an echo is sent, whose ID stands in the place of both ports."""


def usual_script(probe: Probe) -> tuple[Act, ...]:
    """Return the packets of a probe's connection, with the full ones of TCP."""
    acts = _script_for(probe)
    if acts is _SCRIPTS[protocols.TCP] and probe.sending.size is None:
        return (*acts, *_FULL_DATA)
    return acts


def script_of(protocol: int) -> tuple[Act, ...]:
    """Return the packets of a connection of a protocol."""
    return _SCRIPTS.get(protocol, _SCRIPTS[protocols.UDP])


def _script_for(probe: Probe) -> tuple[Act, ...]:
    """Return the packets that a probe asks for."""
    flags = probe.sending.flags
    if flags is not None:
        return (Act("segment", False, flags, 1, 1 if flags & protocols.ACK else 0),)
    if probe.sending.midway:
        return _MIDWAY
    return script_of(probe.protocol)


def first_packet(probe: Probe, act: Act) -> Packet:
    """Make the first packet of a probe."""
    echo = probe.protocol in ECHO
    return make_packet(
        probe.protocol,
        act,
        (probe.src, probe.sport),
        (probe.dst, probe.sport if echo else probe.dport),
    )


def make_packet(
    protocol: int, act: Act, src: tuple[Address, int], dst: tuple[Address, int]
) -> Packet:
    """Make the packet of an act between two addresses with their ports."""
    length = HEADERS.get(protocol, 48) + act.payload
    if act.flags & protocols.SYN:
        length += SYN_OPTIONS
    if src[0].family == 6 and protocol != protocols.ICMPV6:
        length += LONGER_HEADER
    return Packet(
        src[0],
        dst[0],
        protocol,
        src[1],
        dst[1],
        act.flags,
        act.kind,
        length=length,
        payload=act.payload,
        seq=act.seq,
        ack=act.ack,
    )
