"""Frames of captures put together to connections: who spoke first, and what was seen where.

One connection shows under several addresses, since NAT rewrites it between two places of one
capture (`-i any`) or of two. What holds it together is the sequence number of its SYN, which no NAT
changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Sighting

ECHO = {
    (protocols.ICMP, 8): "request",
    (protocols.ICMP, 0): "reply",
    (protocols.ICMPV6, 128): "request",
    (protocols.ICMPV6, 129): "reply",
}

BEGINS = ("SYN", "request", "datagram")
"""Kinds of packet that begin a connection."""


class FramePlace(NamedTuple):
    """Where a capture saw a frame."""

    capture: int
    netns: str | None
    link: str | None
    direction: str | None


class ConnectionFrame(NamedTuple):
    """One frame of a connection."""

    kind: str
    """`SYN`, `SYN-ACK`, `ACK`, `data`, `FIN`, `RST`; `request` and `reply` of an echo; `datagram`
    of UDP.
    """
    original: bool
    """True in the direction of the first packet."""
    packet: Packet
    place: FramePlace
    time: float | None
    span: Span


class Missing(NamedTuple):
    """A packet that came to one place of a capture and never to another that it had to pass."""

    kind: str
    place: FramePlace
    """Where it was not seen."""
    span: Span
    """Where it was seen last."""


class Observed(NamedTuple):
    """A connection as captures show it."""

    probe: Probe
    seen: tuple[ConnectionFrame, ...]
    """In the order of the capture."""
    missing: tuple[Missing, ...]


_Key = tuple[int, frozenset[tuple[Address, int]]]
_Numbered = tuple[int, Sighting]
"""A frame with its place among all: clocks are often cut or edited, so order is as printed."""


def observe(sightings: Iterable[Sighting]) -> tuple[Observed, ...]:
    """Put the frames of all captures together to connections, in the order in which they begin."""
    strands: dict[_Key, list[_Numbered]] = defaultdict(list)
    for number, seen in enumerate(sightings):
        packet = seen.packet
        if (
            packet.protocol in (protocols.TCP, protocols.UDP)
            or (packet.protocol, packet.icmp_type) in ECHO
        ):
            strands[_key(packet)].append((number, seen))
    found = (_observe_strands(group) for group in _join(list(strands.values())))
    return tuple(connection for connection in found if connection is not None)


def kind_of(packet: Packet) -> str:
    """Name a packet's part in its connection by its flags."""
    if packet.protocol == protocols.TCP:
        flags = packet.flags
        if flags & protocols.RST:
            return "RST"
        if flags & protocols.SYN:
            return "SYN-ACK" if flags & protocols.ACK else "SYN"
        if packet.payload or flags & protocols.PSH:
            return "data"
        return "FIN" if flags & protocols.FIN else "ACK"
    return ECHO.get((packet.protocol, packet.icmp_type), "datagram")


def _key(packet: Packet) -> _Key:
    return packet.protocol, frozenset(((packet.src, packet.sport), (packet.dst, packet.dport)))


def _join(strands: Sequence[list[_Numbered]]) -> Iterator[list[list[_Numbered]]]:
    """Join strands whose SYN has the same sequence number: one connection under several
    addresses.
    """
    groups: dict[object, list[list[_Numbered]]] = {}
    for number, strand in enumerate(strands):
        syn = next(
            (seen for _, seen in strand if kind_of(seen.packet) == "SYN" and seen.packet.seq), None
        )
        groups.setdefault(("syn", syn.packet.seq) if syn is not None else number, []).append(strand)
    yield from groups.values()


def _observe_strands(strands: list[list[_Numbered]]) -> Observed | None:
    numbered = [item for strand in strands for item in strand]
    frames = [seen for _, seen in sorted(numbered, key=lambda item: item[0])]
    first = next((seen for seen in frames if kind_of(seen.packet) in BEGINS), None)
    if first is None:
        return None
    clients = {_client(strand) for strand in strands}
    seen = tuple(_see(frame, clients) for frame in frames)
    packet = first.packet
    icmp = packet.protocol in (protocols.ICMP, protocols.ICMPV6)
    probe = Probe(
        packet.protocol, packet.src, packet.dst, packet.sport, 0 if icmp else packet.dport
    )
    return Observed(probe, seen, tuple(_find_missing(seen)))


def _see(frame: Sighting, clients: Collection[tuple[Address, int]]) -> ConnectionFrame:
    packet = frame.packet
    place = FramePlace(frame.capture, frame.netns, frame.link, frame.direction)
    original = (packet.src, packet.sport) in clients
    return ConnectionFrame(kind_of(packet), original, packet, place, frame.time, frame.span)


def _client(strand: list[_Numbered]) -> tuple[Address, int]:
    """Return the end of a strand that began it; some frame of each tells."""
    packets = [seen.packet for _, seen in strand]
    telling = next(one for one in packets if kind_of(one) in (*BEGINS, "SYN-ACK", "reply"))
    if kind_of(telling) in BEGINS:
        return telling.src, telling.sport
    return telling.dst, telling.dport


def _find_missing(seen: Sequence[ConnectionFrame]) -> Iterator[Missing]:
    """Find what entered by a place and did not leave by the one by which the SYN had left.

    Only a capture that saw the SYN at both places says that a later packet of the same direction
    was not there.
    """
    sent = [frame for frame in seen if frame.original and frame.place.link is not None]
    for capture in sorted({frame.place.capture for frame in seen}):
        mine = [frame for frame in sent if frame.place.capture == capture]
        ways = {frame.place for frame in mine if frame.kind == "SYN"}
        if len(ways) < 2:
            continue
        for kind in ("ACK", "data"):
            later = [frame for frame in mine if frame.kind == kind]
            for place in sorted(ways.difference(frame.place for frame in later), key=str):
                if later:
                    yield Missing(kind, place, later[-1].span)
