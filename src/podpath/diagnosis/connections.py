"""Frames of captures put together to connections: who spoke first, what was seen where, and whether it worked.

One connection shows under several addresses, since NAT rewrites it between two places of one capture (`-i any`) or of two.
What holds it together is the sequence number of its SYN, which no NAT changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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


class Place(NamedTuple):
    """Where a capture saw a frame."""

    capture: int
    netns: str | None
    link: str | None
    direction: str | None


class Seen(NamedTuple):
    """One frame of a connection."""

    kind: str
    """`SYN`, `SYN-ACK`, `ACK`, `data`, `FIN`, `RST`; `request` and `reply` of an echo; `datagram` of UDP."""
    original: bool
    """True in the direction of the first packet."""
    packet: Packet
    place: Place
    time: float | None
    span: Span


class Missing(NamedTuple):
    """A packet that came to one place of a capture and never to another that it had to pass."""

    kind: str
    place: Place
    """Where it was not seen."""
    span: Span
    """Where it was seen last."""


class Observed(NamedTuple):
    """A connection as captures show it."""

    probe: Probe
    seen: tuple[Seen, ...]
    """In the order of the capture."""
    missing: tuple[Missing, ...]
    fails: bool | None
    """None where the capture shows neither success nor failure."""
    result: str
    """`timeout`, `reset`, `refused`, `ok`; empty where unknown."""
    why: str
    """What shows the failure, in words."""
    spans: tuple[Span, ...]
    """The lines that show it."""


_Key = tuple[int, frozenset[tuple[Address, int]]]


def observe(sightings: Iterable[Sighting]) -> tuple[Observed, ...]:
    """Put the frames of all captures together to connections, in the order in which they begin."""
    strands: dict[_Key, list[Sighting]] = defaultdict(list)
    for seen in sightings:
        packet = seen.packet
        if packet.protocol in (protocols.TCP, protocols.UDP) or (packet.protocol, packet.icmp_type) in ECHO:
            strands[_key(packet)].append(seen)
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


def _join(strands: Sequence[list[Sighting]]) -> Iterator[list[list[Sighting]]]:
    """Join strands whose SYN has the same sequence number: one connection under several addresses."""
    groups: dict[object, list[list[Sighting]]] = {}
    for number, strand in enumerate(strands):
        syn = next((seen for seen in strand if kind_of(seen.packet) == "SYN" and seen.packet.seq), None)
        groups.setdefault(("syn", syn.packet.seq) if syn is not None else number, []).append(strand)
    yield from groups.values()


def _observe_strands(strands: list[list[Sighting]]) -> Observed | None:
    first = _first_packet(strands)
    if first is None:
        return None
    clients = {_client(strand) for strand in strands}
    frames = sorted((seen for strand in strands for seen in strand), key=_order)
    seen = tuple(
        Seen(
            kind_of(frame.packet), (frame.packet.src, frame.packet.sport) in clients, frame.packet,
            Place(frame.capture, frame.netns, frame.link, frame.direction), frame.time, frame.span,
        )
        for frame in frames
    )  # fmt: skip
    packet = first.packet
    icmp = packet.protocol in (protocols.ICMP, protocols.ICMPV6)
    probe = Probe(packet.protocol, packet.src, packet.dst, packet.sport, 0 if icmp else packet.dport)
    missing = tuple(_find_missing(seen))
    fails, result, why, spans = _judge(seen, missing)
    return Observed(probe, seen, missing, fails, result, why, spans)


def _order(seen: Sighting) -> tuple[int, int]:
    """Order by capture, then as printed: clocks are often cut or edited."""
    return seen.capture, seen.span.line


def _first_packet(strands: list[list[Sighting]]) -> Sighting | None:
    """Give the packet that began the connection: its first SYN, echo request or datagram."""
    begins = [seen for strand in strands for seen in strand if kind_of(seen.packet) in ("SYN", "request", "datagram")]
    return min(begins, key=_order, default=None)


def _client(strand: list[Sighting]) -> tuple[Address, int]:
    """Give the end of a strand that began it."""
    for seen in strand:
        match kind_of(seen.packet):
            case "SYN" | "request" | "datagram":
                return seen.packet.src, seen.packet.sport
            case "SYN-ACK" | "reply":
                return seen.packet.dst, seen.packet.dport
            case _:
                pass
    first = strand[0].packet
    return min((first.src, first.sport), (first.dst, first.dport), key=lambda end: -end[1])


def _find_missing(seen: Sequence[Seen]) -> Iterator[Missing]:
    """Find what entered by a place and did not leave by the one by which the SYN had left.

    Only a capture that saw the SYN at both places says that a later packet of the same direction was not there.
    """
    captures = {frame.place.capture for frame in seen}
    for capture in sorted(captures):
        mine = [frame for frame in seen if frame.place.capture == capture and frame.place.link is not None]
        ways = {frame.place for frame in mine if frame.kind == "SYN" and frame.original}
        if len(ways) < 2:
            continue
        for kind in ("ACK", "data"):
            there = {frame.place for frame in mine if frame.kind == kind and frame.original}
            last = next((frame for frame in reversed(mine) if frame.kind == kind and frame.original), None)
            if there and last is not None:
                yield from (Missing(kind, place, last.span) for place in sorted(ways - there, key=str))


def _judge(seen: Sequence[Seen], missing: Sequence[Missing]) -> tuple[bool | None, str, str, tuple[Span, ...]]:
    """Say whether the connection worked, what it looked like to the client, and which lines show it."""
    answered = [frame for frame in seen if not frame.original and frame.kind in ("data", "reply", "datagram")]
    resets = [frame for frame in seen if frame.kind == "RST"]
    replies = [frame for frame in seen if frame.kind == "SYN-ACK"]
    if answered and not resets:
        return False, "ok", "", (answered[0].span,)
    if resets and replies and resets[0].original and not answered:
        spans = (replies[0].span, resets[0].span)
        return True, "reset", "the client answers the SYN-ACK with a reset: it does not know that connection", spans
    if resets and not replies and not resets[0].original:
        return True, "refused", "the SYN is answered with a reset", (resets[0].span,)
    if missing:
        lost = missing[0]
        return (
            True,
            "timeout",
            f"the {lost.kind} comes in and never leaves on {lost.place.link}",
            tuple(lost.span for lost in missing),
        )
    return _judge_repeats(seen)


def _judge_repeats(seen: Sequence[Seen]) -> tuple[bool | None, str, str, tuple[Span, ...]]:
    """Judge by what is sent again at one place: it was not answered."""
    words = {
        "SYN-ACK": "the server sends its SYN-ACK again: the handshake's last packet does not reach it",
        "data": "the client sends the same data again: nobody acknowledges it",
        "SYN": "the SYN is sent again: nobody answers it",
        "request": "echo requests go unanswered",
    }
    for kind, why in words.items():
        again = _repeated(seen, kind)
        if again and not (kind == "SYN" and any(frame.kind == "SYN-ACK" for frame in seen)):
            return True, "timeout", why, again
    return None, "", "", ()


def _repeated(seen: Sequence[Seen], kind: str) -> tuple[Span, ...]:
    """Give the lines of a packet that was sent more than once past one place."""
    times: dict[tuple[Place, Packet], list[Span]] = defaultdict(list)
    for frame in seen:
        if frame.kind == kind:
            same = frame.packet._replace(ttl=64, tos=0, ack=0, smac=None, dmac=None)
            times[frame.place, same].append(frame.span)
    return next((tuple(spans) for spans in times.values() if len(spans) > 1), ())
