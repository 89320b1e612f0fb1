"""Packets as large as the ends of a connection take: small ones pass where these may not."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.conversations.places import ConnectionEnd
from podpath.datapath.tracing.trace import Delivered, Rejected, Trace, Transmitted
from podpath.datapath.vocabulary import Direction
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.packet import TCP_HEADERS, Packet
from podpath.net.probe import USUALLY, Sending
from podpath.node.links import Link

TOO_BIG = frozenset({"EMSGSIZE", "icmp-frag-needed", "icmp6-packet-too-big"})
"""Answers by which a sender learns to send less."""


def largest_packet(walk: Walk, traces: Sequence[Trace], *, reply: bool) -> int:
    """Return the length of a full packet in one direction: the MTU of the device by which it is
    sent, and no more than the other end offered by the MSS of its SYN, as that arrived; 0 where no
    output shows one of them.
    """
    firsts = {trace.direction: trace for trace in reversed(traces)}
    ours, theirs = (Direction.REPLY, Direction.ORIGINAL)[:: 1 if reply else -1]
    limits: list[int] = []
    if (sent := firsts.get(ours)) is not None and (link := _sent_by(walk, sent)) is not None:
        if link.inferred or link.mtu_inferred:
            return 0
        limits.append(link.mtu)
    if (syn := firsts.get(theirs)) is not None:
        offered = _offered(syn)
        if not offered and _sent_by(walk, syn) is not None:
            return 0
        if offered:
            limits.append(offered + TCP_HEADERS[syn.packet.family])
    return min(filter(None, limits), default=0)


def _offered(syn: Trace) -> int:
    """Return the MSS of a SYN as it arrived; 0 where nobody knows it."""
    outcome = syn.outcome
    if isinstance(outcome, Delivered | Transmitted):
        return outcome.packet.mss
    return 0


def may_not_fit(walk: Walk, traces: Sequence[Trace], length: int) -> bool:
    """Tell whether a packet as long as that meets a smaller MTU where these went: of a device or of
    a route.
    """
    for netns in {step.netns for trace in traces for step in trace.steps}:
        namespace = walk.engine.namespace(netns)
        if any(0 < (route.mtu or length) < length for route in namespace.netns.routes.items):
            return True
    devices = {(step.netns, step.link) for trace in traces for step in trace.steps if step.link}
    return any(0 < walk.engine.namespace(netns).link(name).mtu < length for netns, name in devices)


def _sent_by(walk: Walk, trace: Trace) -> Link | None:
    """Return the device by which a packet's sender has it; None where no step tells."""
    name = next(
        (step.link for step in trace.steps if step.netns == trace.start and step.link is not None),
        None,
    )
    if name is not None:
        return walk.engine.namespace(trace.start).link(name)
    return None


def fill(packet: Packet, length: int) -> Packet:
    """Return the packet with as much payload as makes it that long."""
    more = length - packet.length
    if more > 0:
        return packet._replace(length=length, payload=packet.payload + more)
    return packet


def with_sending(
    walk: Walk, traces: Sequence[Trace], packet: Packet, sending: Sending, *, reply: bool
) -> Packet:
    """Return the packet as a probe's words have it: what carries data of the size that it names,
    of TCP no more than both ends agreed on, the client's with its TTL, DSCP and DF.
    """
    if sending == USUALLY:
        return packet
    if packet.payload and sending.size is not None:
        length = sending.size
        if packet.protocol == protocols.TCP:
            length = min(length, largest_packet(walk, traces, reply=reply) or length)
        more = length - packet.length
        packet = packet._replace(length=length, payload=max(packet.payload + more, 0))
    if reply:
        return packet
    ttl = packet.ttl if sending.ttl is None else sending.ttl
    df = packet.dont_fragment if sending.dont_fragment is None else sending.dont_fragment
    return packet._replace(ttl=ttl, dont_fragment=df, tos=sending.dscp << 2)


def sends_smaller(trace: Trace, sender: ConnectionEnd, answers: Sequence[Trace]) -> bool:
    """Tell whether the sender of a packet that was too long is told so, and sends less from then
    on.
    """
    outcome = trace.outcome
    if not isinstance(outcome, Rejected) or outcome.answer not in TOO_BIG:
        return False
    if outcome.answer == "EMSGSIZE" or sender.link is not None:
        return True
    return any(
        isinstance(answer.outcome, Delivered) and answer.outcome.netns == sender.netns
        for answer in answers
    )
