"""What the end that a packet was for makes of it.

A server answers the tuple that it saw first and takes later packets only under it; a client takes
an answer only for the tuple that it connected with, at its own end. In come both ends as they are
known so far and the trace of a packet; out go the ends as they are known then, and why the packet
is of no use to its receiver, where it is of none.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.conntrack.tuples import inverse, packet_tuple
from podpath.datapath.conversations.acts import ECHO, Act
from podpath.datapath.conversations.places import ConnectionEnd, place_of
from podpath.datapath.conversations.single_packet import find_unheard
from podpath.datapath.reasons import failures
from podpath.datapath.reasons.failures import Failure
from podpath.datapath.tracing.trace import (
    Delivered,
    Dropped,
    Outcome,
    Rejected,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.datapath.vocabulary import ConversationFailure, GivenSocket, StageName
from podpath.datapath.walk.learned import SocketKey
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.cluster import is_followed
from podpath.node.node import NetnsRole


class ConnectionEnds(NamedTuple):
    """The two tuples of a connection: as the client made it, and as the server saw it first."""

    client: ConnectionEnd
    asked: Packet
    server: ConnectionEnd | None = None
    seen: Packet | None = None
    bound: str = ""
    """The device that the client's socket is bound to; empty for none."""
    proxied: bool = False
    """True where a rule gave the connection to a transparent socket."""


class FailedPacket(NamedTuple):
    """A packet of which its connection has nothing."""

    kind: ConversationFailure
    what: Failure


def judge(
    walk: Walk, ends: ConnectionEnds, act: Act, trace: Trace
) -> tuple[ConnectionEnds, FailedPacket | None]:
    """Return both ends as they are known after a packet, and why it is lost to them; None where the
    end that it was for takes it.
    """
    outcome = trace.outcome
    _note_client(walk, ends)
    if not isinstance(outcome, Delivered | Transmitted):
        return ends, _end(trace, outcome)
    place, packet = place_of(walk, outcome), outcome.packet
    if isinstance(outcome, Transmitted) and walk.engine.wires:
        strayed = _left_cluster(walk, trace, outcome)
        if strayed is not None:
            return ends, strayed
    if act.reply:
        return ends, _judge_reply(ends, trace, place, packet)
    if ends.server is not None and ends.seen is not None:
        return ends, _judge_later(ends.server, ends.seen, trace, place, packet)
    opens = packet.protocol != protocols.TCP or act.flags & protocols.SYN
    unheard = find_unheard(walk, trace) if opens else None
    if unheard is not None:
        return ends, FailedPacket(ConversationFailure.REFUSED, unheard)
    return _begun(walk, ends, trace, place, packet), None


def _begun(
    walk: Walk, ends: ConnectionEnds, trace: Trace, place: ConnectionEnd, packet: Packet
) -> ConnectionEnds:
    """Return the ends of a connection whose first packet has come to its server."""
    outcome, asked = trace.outcome, ends.asked
    if asked.src.is_unspecified:
        routed = (step for step in trace.steps if step.stage == StageName.ROUTE_OUTPUT)
        asked = asked._replace(src=next((step.after.src for step in routed), asked.src))
    given = isinstance(outcome, Delivered) and outcome.given is not None
    begun = ends._replace(asked=asked, server=place, seen=packet, proxied=given)
    _note_client(walk, begun)
    _note_server(walk, trace)
    return begun


def outer_delivered(trace: Trace) -> FailedPacket:
    """Say that a process got a tunnel's outer packet."""
    return FailedPacket(ConversationFailure.MISDELIVERED, failures.OuterDelivered(trace.name))


def _end(trace: Trace, outcome: Dropped | Rejected | Undecided) -> FailedPacket:
    step = trace.deciding
    where = (trace.name, outcome.netns, step.stage)
    match outcome:
        case Dropped():
            dropped = failures.PacketDropped(*where, step.reason)
            return FailedPacket(ConversationFailure.DROPPED, dropped)
        case Rejected():
            rejected = failures.PacketRejected(*where, outcome.answer, step.reason)
            return FailedPacket(ConversationFailure.REJECTED, rejected)
        case Undecided():
            undecided = failures.PacketUndecided(*where, outcome.reason)
            return FailedPacket(ConversationFailure.UNDECIDED, undecided)


def _left_cluster(walk: Walk, trace: Trace, outcome: Transmitted) -> FailedPacket | None:
    """Say that a packet left for where nothing is known, though a pod of the model has its
    address.
    """
    address = outcome.packet.dst
    for name, netns in walk.engine.node.namespaces.items():
        home = walk.engine.node.home_of(netns)
        if netns.role != NetnsRole.POD or not is_followed(home):
            continue
        if walk.engine.namespace(name).owns(address):
            left = failures.LeftForPodOf(trace.name, outcome.link, address, netns.node or home.name)
            return FailedPacket(ConversationFailure.LEFT_NODE, left)
    return None


def _judge_reply(
    ends: ConnectionEnds, trace: Trace, place: ConnectionEnd, packet: Packet
) -> FailedPacket | None:
    """Say why a client does not take a reply."""
    if not place.same(ends.client):
        return _misdelivered(trace, place, ends.client, reply=True)
    if _goes_to_listener(trace.outcome):
        return _stray(trace, packet, ends.asked)
    came = _came_by(trace)
    if ends.bound and came and came not in {ends.bound, "lo"}:
        other = failures.CameByOther(trace.name, came, ends.bound)
        return FailedPacket(ConversationFailure.MISDELIVERED, other)
    if _answers(packet, ends.asked):
        return None
    untranslated = failures.NotTranslatedBack(trace.name, packet, ends.asked)
    return FailedPacket(ConversationFailure.UNTRANSLATED, untranslated)


def _answers(packet: Packet, asked: Packet) -> bool:
    """Tell whether a reply has the tuple of what its client asked, the other way around."""
    if (packet.src, packet.dst, packet.dport) != (asked.dst, asked.src, asked.sport):
        return False
    return packet.sport == asked.dport or packet.protocol in ECHO


def _came_by(trace: Trace) -> str:
    """Return the device by which a packet came to where it ended: `lo` for what a host sends to
    itself, whatever device it names; empty where no step tells.
    """
    steps = (step for step in reversed(trace.steps) if step.stage is StageName.DEVICE_RECEIVE)
    return next((step.link or "" for step in steps), "")


def _judge_later(
    server: ConnectionEnd, seen: Packet, trace: Trace, place: ConnectionEnd, packet: Packet
) -> FailedPacket | None:
    """Say why a server does not take a packet after the first."""
    if not place.same(server):
        return _misdelivered(trace, place, server, reply=False)
    if _goes_to_listener(trace.outcome) or _ends_of(packet) != _ends_of(seen):
        return _stray(trace, packet, seen)
    return None


def _ends_of(packet: Packet) -> tuple[Address, Address, int, int]:
    return packet.src, packet.dst, packet.sport, packet.dport


def _misdelivered(
    trace: Trace, place: ConnectionEnd, wanted: ConnectionEnd, *, reply: bool
) -> FailedPacket:
    return FailedPacket(
        ConversationFailure.MISDELIVERED,
        failures.Misdelivered(trace.name, place.end, wanted.end, reply),
    )


def _stray(trace: Trace, packet: Packet, seen: Packet) -> FailedPacket:
    return FailedPacket(ConversationFailure.STRAY, failures.StrayPacket(trace.name, packet, seen))


def _goes_to_listener(outcome: Outcome) -> bool:
    """Tell whether a rule gave a packet to a proxy's listener: where it is of a connection that has
    begun, that knows nothing of it.
    """
    return (
        isinstance(outcome, Delivered)
        and outcome.given is GivenSocket.LISTENER
        and outcome.packet.protocol == protocols.TCP
    )


def _note_client(walk: Walk, ends: ConnectionEnds) -> None:
    """Note the client's socket, which a rule that looks for sockets finds answers to belong to."""
    if ends.client.link is None:
        answer = inverse(packet_tuple(ends.asked))
        walk.learned.sockets[SocketKey(ends.client.netns, answer)] = False


def _note_server(walk: Walk, trace: Trace) -> None:
    """Note the socket of a server that takes a connection of TCP, transparent where the one that
    listens is.
    """
    outcome = trace.outcome
    if isinstance(outcome, Delivered) and outcome.packet.protocol == protocols.TCP:
        key = SocketKey(outcome.netns, packet_tuple(outcome.packet))
        walk.learned.sockets[key] = outcome.given is not None
