"""Frames to what they say without a network's model: who talks to whom at each point, what was sent
again, what went unanswered.

Plain values, so that checks reason on captures that were read from text without NumPy. A frame is
whatever has the attributes of `Frame`: what is known of one packet, and the line or the packet
number that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet, endpoint
from podpath.net.provenance import Span

Endpoint = tuple[Address, int]
RESEND_AFTER = 0.15
"""Seconds: TCP_RTO_MIN is 200 ms (include/net/tcp.h:TCP_RTO_MIN v6.12); captures are off by less
than a quarter of it.
"""
_OPENING = protocols.SYN | protocols.ACK | protocols.RST | protocols.FIN
_SYN_ACK = protocols.SYN | protocols.ACK
_REQUESTS, _REPLIES = (
    ((protocols.ICMP, 8), (protocols.ICMPV6, 128)),
    ((protocols.ICMP, 0), (protocols.ICMPV6, 129)),
)


class Frame(Protocol):
    """One packet that a capture shows."""

    @property
    def packet(self) -> Packet:
        """Its headers; of TCP the numbers as printed."""

    @property
    def time(self) -> float | None:
        """Seconds on the capture's own clock; None where none is printed."""

    @property
    def span(self) -> Span:
        """The line that shows it."""

    @property
    def netns(self) -> str | None:
        """The namespace that it was captured in."""

    @property
    def link(self) -> str | None:
        """The device."""

    @property
    def direction(self) -> str | None:
        """`in` or `out`; None where the capture does not say."""

    @property
    def capture(self) -> int:
        """Which capture it belongs to."""

    @property
    def tunnel(self) -> str:
        """The tunnel that it was in; empty outside of tunnels."""

    @property
    def mtu(self) -> int:
        """The size that an ICMP error says would fit, or 0."""

    @property
    def wrong_sum(self) -> bool:
        """True where the capture calls its checksum wrong."""


F = TypeVar("F", bound=Frame)


class Point(NamedTuple):
    """Where frames were captured: a device within a capture; `-i any` has many."""

    capture: int
    netns: str | None
    link: str | None
    tunnel: str = ""
    """What is in a tunnel is seen at the tunnel's own point, though the device is the same."""

    def __str__(self) -> str:
        """Name the device, and the namespace where it is not the host's."""
        place = self.link or "the capture's device"
        return place if self.netns in (None, "host") else f"{place} in netns {self.netns}"


@dataclass(slots=True, kw_only=True)
class Talk(Generic[F]):
    """What one point shows of two ends and their ports, in the order of the capture. Mutable while
    it is gathered.
    """

    point: Point
    protocol: int
    client: Endpoint
    """Who opened it; where the capture does not show that, the end with the higher port, or who is
    seen first.
    """
    server: Endpoint
    opened: bool = False
    """True where its beginning is seen: a SYN, an echo request."""
    forward: list[F] = field(default_factory=list)
    """From the client to the server."""
    backward: list[F] = field(default_factory=list)

    @property
    def words(self) -> str:
        """Spell it as a probe does: `tcp 10.0.0.1:1024 > 10.0.0.2:80`."""
        name = protocols.protocol_name(self.protocol) if self.protocol else "ip"
        if self.protocol in (protocols.TCP, protocols.UDP, protocols.SCTP):
            return f"{name} {endpoint(*self.client)} > {endpoint(*self.server)}"
        return f"{name} {self.client[0]} > {self.server[0]}"

    @property
    def where(self) -> str:
        """Name its point: the device, or the file where no device is known."""
        return spell_point(self.point, (self.forward or self.backward)[0])

    @property
    def frames(self) -> list[F]:
        """Both directions, by time where the capture has it, else as they stand."""
        both = [*self.forward, *self.backward]
        both.sort(key=_place)
        return (
            both
            if any(seen.time is None for seen in both)
            else sorted(both, key=lambda seen: seen.time or 0.0)
        )

    @property
    def syns(self) -> list[F]:
        """The client's SYNs, each time that one was sent."""
        return [seen for seen in self.forward if opening(seen.packet) == protocols.SYN]

    @property
    def syn_acks(self) -> list[F]:
        """The server's answers to them."""
        return [seen for seen in self.backward if opening(seen.packet) == _SYN_ACK]

    @property
    def acks(self) -> list[F]:
        """What the client sends once it has the server's answer: acknowledgements, data, the end;
        no resets.
        """
        return [
            seen
            for seen in self.forward
            if seen.packet.flags & _OPENING == protocols.ACK or _ends(seen.packet)
        ]

    def first_number(self, frames: Sequence[F]) -> int | None:
        """Return the sequence number of a direction's SYN, as on the wire; None where it was not
        seen.
        """
        return next((seen.packet.seq for seen in frames if seen.packet.flags & protocols.SYN), None)

    @property
    def resets(self) -> list[F]:
        """Resets of either side."""
        return [seen for seen in self.frames if seen.packet.flags & protocols.RST]


def _ends(packet: Packet) -> bool:
    return packet.flags & protocols.FIN != 0 and packet.flags & (protocols.RST | protocols.SYN) == 0


def opening(packet: Packet) -> int:
    """Return the flags that open, answer and close a connection; 0 for what is no TCP."""
    return packet.flags & _OPENING if packet.protocol == protocols.TCP else 0


def point_of(frame: Frame) -> Point:
    """Say where a frame was captured."""
    return Point(frame.capture, frame.netns, frame.link, frame.tunnel)


def spell_point(point: Point, frame: Frame) -> str:
    """Name a point: its device, or the file of a frame that was captured there, where no device is
    known.
    """
    return str(point) if point.link is not None else frame.span.source.name.rpartition("/")[2]


def gather_talks(frames: Iterable[F]) -> list[Talk[F]]:
    """Return everything that is said between two ends at each point, in order of its first frame.

    A SYN with another sequence number on the same ports begins a new one. Fragments and ICMP errors
    belong to none.
    """
    current: dict[tuple[object, ...], Talk[F]] = {}
    talks: list[Talk[F]] = []
    for seen in frames:
        packet = seen.packet
        if packet.fragment or is_error(packet):
            continue
        source, target = (packet.src, packet.sport), (packet.dst, packet.dport)
        key = (point_of(seen), packet.protocol, frozenset((source, target)))
        talk = current.get(key)
        if talk is None or _begins_anew(talk, seen):
            talk = _start(seen, source, target)
            current[key] = talk
            talks.append(talk)
        elif not talk.opened and _is_opening(packet):
            _turn(talk, source)
            talk.opened = True
        (
            talk.forward
            if talk.client == source and (talk.server != source or not talk.forward)
            else talk.backward
        ).append(seen)
    return talks


def _start(seen: F, source: Endpoint, target: Endpoint) -> Talk[F]:
    packet = seen.packet
    answers = opening(packet) == _SYN_ACK or (packet.protocol, packet.icmp_type) in _REPLIES
    likely_server = not _is_opening(packet) and packet.has_ports and packet.sport < packet.dport
    client, server = (target, source) if answers or likely_server else (source, target)
    return Talk(
        point=point_of(seen),
        protocol=packet.protocol,
        client=client,
        server=server,
        opened=_is_opening(packet) or answers,
    )


def _is_opening(packet: Packet) -> bool:
    return opening(packet) == protocols.SYN or (packet.protocol, packet.icmp_type) in _REQUESTS


def _turn(talk: Talk[F], client: Endpoint) -> None:
    """Let the other end be the client, once it is seen to open."""
    if talk.client != client:
        talk.client, talk.server = talk.server, talk.client
        talk.forward, talk.backward = talk.backward, talk.forward


def _begins_anew(talk: Talk[F], seen: F) -> bool:
    if opening(seen.packet) != protocols.SYN:
        return False
    syns = talk.syns
    return bool(syns) and syns[0].packet.seq != seen.packet.seq


def _place(frame: Frame) -> tuple[str, int]:
    return frame.span.source.name, frame.span.line


def is_error(packet: Packet) -> bool:
    """Tell whether it is an ICMP error, which speaks of another packet."""
    if packet.protocol == protocols.ICMP:
        return packet.icmp_type in (3, 4, 5, 11, 12)
    return packet.protocol == protocols.ICMPV6 and packet.icmp_type in (1, 2, 3, 4)


def times_sent(same: Sequence[F]) -> list[F]:
    """Return the frames that were each sent anew, without copies of one that the same point shows
    on its way through.

    Where no time is printed, what stands there a third time was sent anew.
    """
    timed = [seen for seen in same if seen.time is not None]
    if not timed:
        return list(same) if len(same) > 2 else list(same[:1])
    sent = timed[:1]
    for seen in timed[1:]:
        if abs((seen.time or 0.0) - (sent[-1].time or 0.0)) >= RESEND_AFTER:
            sent.append(seen)
    return sent


def repeated_data(frames: Sequence[F]) -> list[list[F]]:
    """Return the segments of one direction that were sent more than once, each with all times it
    was sent.
    """
    sent: dict[tuple[int, int], list[F]] = {}
    for seen in frames:
        if seen.packet.payload and not seen.packet.flags & (protocols.SYN | protocols.RST):
            sent.setdefault((seen.packet.seq, seen.packet.payload), []).append(seen)
    found = [times_sent(copies) for copies in sent.values() if len(copies) > 1]
    return [copies for copies in found if len(copies) > 1]


def is_acknowledged(talk: Talk[F], sent: F) -> bool:
    """Tell whether the other side acknowledged a segment."""
    forth = any(seen is sent for seen in talk.forward)
    first = talk.first_number(talk.forward if forth else talk.backward)
    end = counted(sent.packet.seq, first) + sent.packet.payload
    return any(
        seen.packet.flags & protocols.ACK
        and not seen.packet.flags & (protocols.SYN | protocols.RST)
        and (counted(seen.packet.ack, first) - end) & 0xFFFFFFFF < 1 << 31
        for seen in (talk.backward if forth else talk.forward)
    )


def counted(number: int, first: int | None) -> int:
    """Count a sequence number from that of the SYN: tcpdump prints both ways, the first of a
    connection as it is on the wire.
    """
    if first is None or number < first:
        return number
    return number - first if number - first < 1 << 31 else number


def seconds_between(one: Frame, other: Frame) -> float | None:
    """Return the time from one frame to another; None where one has none."""
    return None if one.time is None or other.time is None else other.time - one.time


def clock(time: float) -> str:
    """Spell a time of a capture: the time of day, with the microsecond."""
    day = time % 86400
    return f"{int(day // 3600):02}:{int(day % 3600 // 60):02}:{day % 60:09.6f}"


def errors_about(frames: Iterable[F]) -> Iterator[F]:
    """Return the ICMP errors among frames."""
    return (seen for seen in frames if is_error(seen.packet))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(Generic[F]):
    """One TCP connection at all points that show its handshake: NAT changes its ends, and never the
    number of its SYN.
    """

    talks: tuple[Talk[F], ...]
    """In the order in which its SYN came to them."""

    @property
    def start(self) -> Talk[F]:
        """How the point nearest to the client shows it."""
        return self.talks[0]


def gather_connections(talks: Iterable[Talk[F]]) -> list[Connection[F]]:
    """Join what several points show of one connection by the number of its SYN; those whose SYN
    nobody saw stand alone.
    """
    groups: dict[object, list[Talk[F]]] = {}
    for number, talk in enumerate(talks):
        if talk.protocol == protocols.TCP:
            syns = talk.syns
            key = (
                ("syn", syns[0].packet.seq, talk.client[1])
                if syns and syns[0].packet.seq
                else number
            )
            groups.setdefault(key, []).append(talk)
    return [Connection(talks=_in_order(group)) for group in groups.values()]


def _in_order(talks: Sequence[Talk[F]]) -> tuple[Talk[F], ...]:
    """Order the points of one connection: by the clock where they share one, else as they stand."""
    if len({talk.point.capture for talk in talks}) > 1 or any(
        seen.time is None for talk in talks for seen in talk.syns[:1]
    ):
        return tuple(talks)
    return tuple(sorted(talks, key=lambda talk: talk.syns[0].time or 0.0 if talk.syns else 0.0))
