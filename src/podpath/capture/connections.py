"""Frames put together to connections: the one model of who talks with whom, for captures of any
origin.

A flow is what one capture point shows of two ends and their ports, both directions of it. A
connection is all flows that show the same packets: NAT changes the ends of a connection on its way,
and never the number of its SYN, so flows with one SYN are one connection. What is not TCP has no
such number, and is one connection only under its own ends, within one capture.

`capture.matching` follows single packets through large captures with arrays; what it finds it says
in `capture.sightings`, with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from podpath.capture.frames import (
    SYN_ACK,
    CapturedFrame,
    CapturePoint,
    F,
    counted,
    is_error,
    opening,
    opening_with,
    point_of,
    seconds_between,
    spell_point,
)
from podpath.capture.states import name_state
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet, endpoint

Endpoint = tuple[Address, int]
FORWARDED_WITHIN = 0.1
"""Seconds from one device of a host to the next: forwarding takes microseconds, a retransmission
200 ms or more.
"""


@dataclass(slots=True, kw_only=True)
class CapturedFlow(Generic[F]):
    """What one point shows of two ends and their ports, in the order of the capture. Mutable while
    it is gathered.
    """

    point: CapturePoint
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
    def ends(self) -> tuple[Endpoint, Endpoint]:
        """Who talks to whom."""
        return self.client, self.server

    @property
    def frames(self) -> list[F]:
        """Both directions, by time where the capture has it, else as they stand."""
        both = sorted([*self.forward, *self.backward], key=_place)
        if any(seen.time is None for seen in both):
            return both
        return sorted(both, key=_time)

    @property
    def syns(self) -> list[F]:
        """The client's SYNs, each time that one was sent."""
        if self.protocol == protocols.TCP:
            return opening_with(self.forward, protocols.SYN)
        return []

    @property
    def syn_acks(self) -> list[F]:
        """The server's answers to them."""
        if self.protocol == protocols.TCP:
            return opening_with(self.backward, SYN_ACK)
        return []

    @property
    def acks(self) -> list[F]:
        """What the client sends once it has the server's answer: acknowledgements, data, the end;
        no resets.
        """
        return [seen for seen in self.forward if _goes_on(seen.packet)]

    @property
    def resets(self) -> list[F]:
        """Resets of either side."""
        if not (_have(self.forward, protocols.RST) or _have(self.backward, protocols.RST)):
            return []
        return [seen for seen in self.frames if seen.packet.flags & protocols.RST]

    @property
    def state(self) -> str:
        """How its TCP connection went, by Zeek's word."""
        answered = bool(self.syn_acks)
        acknowledged = any(opening(seen.packet) == protocols.ACK for seen in self.forward)
        closed = _closes(self.forward) and _closes(self.backward)
        return name_state(
            asked=bool(self.syns) or (answered and acknowledged),
            answered=answered,
            client_ends=_have(self.forward, protocols.FIN),
            server_ends=_have(self.backward, protocols.FIN),
            client_resets=_have(self.forward, protocols.RST) and not closed,
            server_resets=_have(self.backward, protocols.RST) and not closed,
        )

    @property
    def stands(self) -> bool:
        """Tell whether the client, or the server where this point shows it alone, sends what only
        an established connection lets it send: it acknowledges, and opens and ends nothing.
        """
        own = self.forward or self.backward
        return any(opening(seen.packet) == protocols.ACK for seen in own)

    def first_number(self, frames: Sequence[F]) -> int | None:
        """Return the sequence number of a direction's SYN, as on the wire; None where it was not
        seen.
        """
        return next((seen.packet.seq for seen in frames if seen.packet.flags & protocols.SYN), None)

    def acknowledges(self, sent: F) -> bool:
        """Tell whether the other side acknowledged a segment."""
        forth = any(seen is sent for seen in self.forward)
        mine, other = (self.forward, self.backward) if forth else (self.backward, self.forward)
        first = self.first_number(mine)
        end = counted(sent.packet.seq, first) + sent.packet.payload
        return any(
            (counted(seen.packet.ack, first) - end) & 0xFFFFFFFF < 1 << 31
            for seen in other
            if seen.packet.flags & (protocols.ACK | protocols.SYN | protocols.RST) == protocols.ACK
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedConnection(Generic[F]):
    """One connection at all points that show it."""

    flows: tuple[CapturedFlow[F], ...]
    """In the order in which its SYN came to them."""

    @property
    def start(self) -> CapturedFlow[F]:
        """How the point nearest to the client shows it."""
        return self.flows[0]

    @property
    def translations(self) -> tuple[CapturedFlow[F], ...]:
        """The first flow with each pair of ends: the original, then what NAT made of it, in
        order.
        """
        first: dict[tuple[Endpoint, Endpoint], CapturedFlow[F]] = {}
        for flow in self.flows:
            first.setdefault(flow.ends, flow)
        return tuple(first.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic(Generic[F]):
    """Everything that is said in captures."""

    flows: tuple[CapturedFlow[F], ...]
    """In the order of their first frames."""
    connections: tuple[CapturedConnection[F], ...]
    """In the order of their first flows."""


def gather_traffic(frames: Iterable[F]) -> Traffic[F]:
    """Put frames together to flows, and these to connections."""
    flows = gather_flows(frames)
    return Traffic(flows=tuple(flows), connections=tuple(join_flows(flows)))


def gather_flows(frames: Iterable[F]) -> list[CapturedFlow[F]]:
    """Return everything that is said between two ends at each point, in order of its first frame.

    A SYN with another sequence number on the same ports begins a new one. Fragments and ICMP errors
    belong to none.
    """
    current: dict[tuple[object, ...], CapturedFlow[F]] = {}
    flows: list[CapturedFlow[F]] = []
    for seen in frames:
        packet = seen.packet
        if packet.fragment or is_error(packet):
            continue
        source, target = (packet.src, packet.sport), (packet.dst, packet.dport)
        # what a point is known by: to make a `CapturePoint` of each frame is slow
        tunnel = point_of(seen).tunnel if seen.tunnel else ""
        place = (seen.capture, seen.netns, seen.link, tunnel)
        key = (place, packet.protocol, frozenset((source, target)))
        flow = current.get(key)
        if flow is None or _begins_anew(flow, seen):
            flow = _start(seen, source, target)
            current[key] = flow
            flows.append(flow)
        elif not flow.opened and _is_opening(packet):
            _turn(flow, source)
            flow.opened = True
        to_itself = flow.client == flow.server and flow.forward
        forth = flow.client == source and not to_itself
        (flow.forward if forth else flow.backward).append(seen)
    return flows


def join_flows(flows: Iterable[CapturedFlow[F]]) -> list[CapturedConnection[F]]:
    """Join what several points show of one connection; TCP whose SYN nobody saw stands alone."""
    groups: list[list[CapturedFlow[F]]] = []
    known: dict[object, list[list[CapturedFlow[F]]]] = {}
    for number, flow in enumerate(flows):
        alike = known.setdefault(_identity(flow, number), [])
        group = next((group for group in alike if _is_one_connection(group, flow)), None)
        if group is None:
            group = []
            alike.append(group)
            groups.append(group)
        group.append(flow)
    return [CapturedConnection(flows=_in_order(group)) for group in groups]


def is_forwarded(seen: F, further: Iterable[F]) -> bool:
    """Tell whether a packet is among frames of its connection further on, under whatever ends;
    tcpdump may number it from 0 here and from the SYN there.
    """
    return any(_is_sent_on(seen, other) for other in further)


def _is_sent_on(one: F, other: F) -> bool:
    first, second = one.packet, other.packet
    if (first.flags, first.payload) != (second.flags, second.payload):
        return False
    apart = seconds_between(one, other)
    if apart is None:
        return other.span.line >= one.span.line
    return 0 <= apart < FORWARDED_WITHIN


def _identity(flow: CapturedFlow[F], number: int) -> object:
    """Return what all flows of one connection have in common; `number` where nothing is known to
    be.
    """
    if flow.protocol != protocols.TCP:
        return flow.point.capture, flow.protocol, flow.client, flow.server
    syns = flow.syns
    if syns and syns[0].packet.seq:
        return ("syn", syns[0].packet.seq)
    return number


def _is_one_connection(group: Sequence[CapturedFlow[F]], flow: CapturedFlow[F]) -> bool:
    """Tell whether a flow with the same SYN is the same connection: NAT keeps the client's port, or
    (masquerade with another port) the server's end.
    """
    if flow.protocol != protocols.TCP or not flow.syns:
        return True
    return any(flow.client[1] == one.client[1] or _is_masqueraded(one, flow) for one in group)


def _is_masqueraded(one: CapturedFlow[F], other: CapturedFlow[F]) -> bool:
    """Tell whether the second flow is the first one, sent on at once by somebody else."""
    if one.point.capture != other.point.capture or one.server != other.server:
        return False
    if one.client[0] == other.client[0]:
        return False
    first, second = one.syns[0], other.syns[0]
    apart = seconds_between(first, second)
    if apart is None:
        return first.time is second.time
    return 0 <= apart < FORWARDED_WITHIN


def _start(seen: F, source: Endpoint, target: Endpoint) -> CapturedFlow[F]:
    packet = seen.packet
    opens = _is_opening(packet)
    answers = opening(packet) == SYN_ACK or _is_echo(packet, protocols.ECHO_REPLIES)
    likely_server = not opens and packet.has_ports and packet.sport < packet.dport
    client, server = (target, source) if answers or likely_server else (source, target)
    return CapturedFlow(
        point=point_of(seen),
        protocol=packet.protocol,
        client=client,
        server=server,
        opened=opens or answers,
    )


def _is_opening(packet: Packet) -> bool:
    return opening(packet) == protocols.SYN or _is_echo(packet, protocols.ECHO_REQUESTS)


def _is_echo(packet: Packet, types: dict[int, int]) -> bool:
    return types.get(packet.protocol) == packet.icmp_type


def _turn(flow: CapturedFlow[F], client: Endpoint) -> None:
    """Let the other end be the client, once it is seen to open."""
    if flow.client != client:
        flow.client, flow.server = flow.server, flow.client
        flow.forward, flow.backward = flow.backward, flow.forward


def _begins_anew(flow: CapturedFlow[F], seen: F) -> bool:
    if opening(seen.packet) != protocols.SYN:
        return False
    syns = flow.syns
    return bool(syns) and syns[0].packet.seq != seen.packet.seq


def _goes_on(packet: Packet) -> bool:
    """Tell whether a packet says that a connection stands: it acknowledges, or ends it orderly."""
    ends = packet.flags & protocols.FIN and not packet.flags & (protocols.RST | protocols.SYN)
    return opening(packet) == protocols.ACK or bool(ends)


def _closes(frames: Iterable[CapturedFrame]) -> bool:
    """Tell whether one side sends a FIN, and no reset before it."""
    telling = protocols.FIN | protocols.RST
    first = next((seen.packet.flags for seen in frames if seen.packet.flags & telling), 0)
    return first & telling == protocols.FIN


def _have(frames: Iterable[F], flag: int) -> bool:
    return any(seen.packet.flags & flag for seen in frames)


def _place(frame: CapturedFrame) -> tuple[str, int]:
    return frame.span.source.name, frame.span.line


def _time(frame: CapturedFrame) -> float:
    return frame.time or 0.0


def _in_order(flows: Sequence[CapturedFlow[F]]) -> tuple[CapturedFlow[F], ...]:
    """Order the points of one connection: by the clock where they share one, else as they stand."""
    if len(flows) == 1:
        return tuple(flows)
    one_clock = len({flow.point.capture for flow in flows}) == 1
    syns = [flow.syns[0] for flow in flows if flow.syns]
    if not one_clock or len(syns) < len(flows) or any(seen.time is None for seen in syns):
        return tuple(flows)
    return tuple(sorted(flows, key=lambda flow: _time(flow.syns[0])))
