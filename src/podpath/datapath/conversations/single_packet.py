"""One packet from where its sender hands it over to where it ends, and what its sender is told.

In come a packet and the state of a walk; out goes its trace, and those of the errors and resets
that answer it.
"""

from __future__ import annotations

from podpath.datapath.conversations.answers import refuse
from podpath.datapath.conversations.places import place_of, send_from
from podpath.datapath.netfilter.tracking import attach_answer
from podpath.datapath.reasons.failures import NobodyListens
from podpath.datapath.routing.reasons import kernel_version
from podpath.datapath.stages.driver import drive
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.trace import Delivered, Dropped, Rejected, Trace, Transmitted
from podpath.datapath.vocabulary import Direction, PacketType
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.datapath.walk.trace_builder import TraceBuilder
from podpath.net import protocols
from podpath.net.packet import Packet

ERRORS_AT_ONCE = 6
"""How many errors a host sends another at once, whatever a token of its rate limit takes
(XRLIM_BURST_FACTOR, net/ipv4/inetpeer.c:inet_peer_xrlim_allow v6.12).
"""
RESETS_HAVE_OWNERS = (6, 13)
"""Since which kernel a listening socket's reset is that socket's."""


def drive_packet(
    walk: Walk,
    name: str,
    skb: Skb,
    packet: Packet,
    *,
    reply: bool,
    path: paths.PathName | None = None,
) -> Trace:
    """Walk one packet from where its sender hands it over, and return its trace."""
    walk.trace = TraceBuilder()
    walk.draws.packets += 1
    start = skb.netns.name
    outcome = drive(walk, skb, path or (paths.OUTPUT if skb.link is None else paths.RECEIVE))
    direction = Direction.REPLY if reply else Direction.ORIGINAL
    return Trace(
        name=name,
        direction=direction,
        start=start,
        packet=packet,
        steps=tuple(walk.trace.steps),
        outcome=outcome,
        matched=tuple(walk.trace.matched),
    )


def answer_to(walk: Walk, skb: Skb, trace: Trace) -> tuple[Trace, ...]:
    """Walk what the packet's sender is told: the error of the stage that rejected it, or of the
    host that did not want it; what the error's sender is told in turn, and so on.

    An error that a tunnel carries is a datagram that may be answered by another without end; the
    kernel sends one host no more at once than `ERRORS_AT_ONCE`.
    """
    told: list[Trace] = []
    while len(told) < ERRORS_AT_ONCE:
        answered = _answer(walk, skb, trace)
        if answered is None:
            break
        skb, trace = answered
        told.append(trace)
    return tuple(told)


def _answer(walk: Walk, skb: Skb, trace: Trace) -> tuple[Skb, Trace] | None:
    """Walk the one packet that answers this; None where nothing does."""
    outcome, reply = trace.outcome, trace.direction == Direction.ORIGINAL
    if isinstance(outcome, Rejected | Dropped) and skb.answer is not None:
        return _send_error(walk, skb, skb.answer, outcome, reply=reply)
    if not isinstance(outcome, Delivered | Transmitted):
        return None
    if isinstance(outcome, Delivered) and _takes_datagram(walk, outcome):
        return None
    if skb.pkt_type in {PacketType.BROADCAST, PacketType.MULTICAST}:
        return None
    refusal = refuse(outcome.packet)
    if refusal is None:
        return None
    return _send_refusal(walk, refusal, outcome, reply=reply)


def _send_error(
    walk: Walk, cause: Skb, packet: Packet, outcome: Rejected | Dropped, *, reply: bool
) -> tuple[Skb, Trace]:
    """Send the error of the stage that rejected a packet."""
    error = Skb(packet, walk.engine.node.namespaces[outcome.netns], by_kernel=True)
    error.failed_at = cause.failed_at
    error.partial = packet.protocol == protocols.TCP
    attach_answer(error, cause)
    name = _name_answer(outcome)
    path = _turn_back(error, cause)
    return error, drive_packet(walk, name, error, error.packet, reply=reply, path=path)


def _send_refusal(
    walk: Walk, packet: Packet, outcome: Delivered | Transmitted, *, reply: bool
) -> tuple[Skb, Trace]:
    """Send what a host answers that has no socket for what came."""
    name = "RST" if packet.protocol == protocols.TCP else "icmp-port-unreachable"
    owned = isinstance(outcome, Delivered) and _resets_as_listener(walk, outcome)
    refusal = send_from(walk, place_of(walk, outcome), packet, by_kernel=not owned)
    refusal.partial = False
    refusal.transparent = isinstance(outcome, Delivered) and outcome.given is not None
    return refusal, drive_packet(walk, name, refusal, packet, reply=reply)


def _name_answer(outcome: Rejected | Dropped) -> str:
    if isinstance(outcome, Dropped):
        return "icmp-port-unreachable"
    if outcome.answer == "EHOSTUNREACH":
        return "icmp-host-unreachable"
    return outcome.answer


def _resets_as_listener(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a reset has the owner of the socket that listens there
    (`net/ipv4/ip_output.c:ip_send_unicast_reply v6.13`, which before knew the kernel's own alone).
    """
    netns, packet = walk.engine.node.namespaces[outcome.netns], outcome.packet
    kernel = walk.engine.node.home_of(netns).kernel
    tcp = packet.protocol == protocols.TCP
    return tcp and kernel_version(kernel) >= RESETS_HAVE_OWNERS and is_heard(walk, outcome)


def _turn_back(answer: Skb, cause: Skb) -> paths.PathName | None:
    """Give a reset about what br_netfilter saw the MACs of its cause, the other way around; return
    the path that leads it out of the port, None where it goes the way of any packet.
    """
    if cause.physin is None or answer.packet.protocol != protocols.TCP:
        return None
    answer.physin = cause.physin
    answer.packet = with_macs(answer.packet, cause.packet.dmac, cause.packet.smac)
    return paths.RESET


def _takes_datagram(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a socket is listed that takes a datagram from anybody."""
    netns = walk.engine.node.namespaces[outcome.netns]
    return (
        outcome.packet.protocol == protocols.UDP
        and netns.shows_sockets(protocols.UDP)
        and is_heard(walk, outcome)
    )


def find_unheard(walk: Walk, trace: Trace) -> NobodyListens | None:
    """Say that no socket takes what is delivered, at a port that NAT draws with one that none has;
    None where one does.
    """
    outcome = trace.outcome
    if not isinstance(outcome, Delivered) or is_heard(walk, outcome):
        return None
    packet, port = outcome.packet, outcome.packet.dport
    if isinstance(port, DrawnPort):
        packet = packet._replace(dport=port.settle())
    return NobodyListens(trace.name, outcome.netns, packet)


def is_heard(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a socket takes what is delivered: that which a rule gave it to, else one at its
    address and port.
    """
    netns, packet = walk.engine.node.namespaces[outcome.netns], outcome.packet
    if outcome.given is not None:
        return True
    return netns.listens(packet.protocol, packet.dst, packet.dport)
