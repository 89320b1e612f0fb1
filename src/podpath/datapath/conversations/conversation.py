"""A whole connection through a node: handshake, data and its replies, with conntrack carried from
packet to packet.

Both ends behave as hosts do: a server answers the tuple that it saw, a client takes an answer only
for the tuple that it connected with (`judgment`), and a host outside the node is presumed to
answer. What a bypass hides from conntrack, or a reply that was not translated back, so shows where
it breaks the connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from podpath.datapath.conntrack.remains import list_entries
from podpath.datapath.conversations.acts import ECHO, Act, first_packet, make_packet, usual_script
from podpath.datapath.conversations.full_size import (
    fill,
    largest_packet,
    may_not_fit,
    sends_smaller,
    with_sending,
)
from podpath.datapath.conversations.judgment import (
    ConnectionEnds,
    FailedPacket,
    judge,
    outer_delivered,
)
from podpath.datapath.conversations.midway import doubt
from podpath.datapath.conversations.own_address import answer_source, connect_to_self
from podpath.datapath.conversations.places import (
    ConnectionEnd,
    check_device,
    place_sender,
    send_from,
)
from podpath.datapath.conversations.single_packet import answer_to, drive_packet
from podpath.datapath.tracing.exploration import Choices, Exploration, explore
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered, Trace, Transmitted
from podpath.datapath.vocabulary import ConversationFailure, Reachability
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.probe import Probe, Sending
from podpath.node.node import Node


def converse(
    node: Node | Engine,
    probe: Probe,
    *,
    limit: int = 64,
    deviations: int = 2,
    settled: Mapping[str, object] | None = None,
    script: tuple[Act, ...] = (),
) -> Conversation:
    """Walk every packet of the probe's connection, under every combination of answers to what is
    not known.

    A caller with many probes makes one `Engine` of the node and hands it in. `limit`, `deviations`
    and `settled` are those of `exploration.explore`. `script` gives other packets than the
    protocol's usual ones (`script_of`).
    """
    acts = script or usual_script(probe)
    engine = node if isinstance(node, Engine) else Engine(node)
    explored = explore(
        lambda choices: _run(engine, probe, choices, acts),
        limit=limit,
        deviations=deviations,
        settled=settled,
    )
    return conclude(probe, explored)


def walk_branch(engine: Engine, probe: Probe, choices: Choices) -> Branch:
    """Walk the probe's connection under one combination of answers, as `converse` does."""
    return _run(engine, probe, choices, usual_script(probe))


def conclude(probe: Probe, explored: Exploration[Branch]) -> Conversation:
    """Return the conversation that has these branches."""
    return Conversation(
        probe=probe,
        branches=explored.results,
        verdict=sum_up(explored.results),
        truncated=explored.truncated,
        pruned=explored.pruned,
    )


def sum_up(branches: tuple[Branch, ...]) -> Reachability:
    """Return what becomes of a connection in all of these branches; there is at least one."""
    works = {branch.works for branch in branches}
    if branches[0].works is None:
        return Reachability.UNDECIDED
    if works == {True}:
        return Reachability.ALWAYS
    if False not in works:
        return Reachability.UNDECIDED
    if works == {False}:
        return Reachability.NEVER
    return Reachability.SOMETIMES


def _run(engine: Engine, probe: Probe, choices: Choices, script: tuple[Act, ...]) -> Branch:
    """Walk one branch of the conversation to its end."""
    exchange = _Exchange(Walk(engine, choices), probe, script[0])
    for act, following in zip(script, (*script[1:], None), strict=True):
        sent = exchange.send(act)
        if sent is None:
            break
        failure = exchange.receive(sent)
        if failure is None:
            continue
        ended = exchange.go_on(sent, failure, following)
        if ended is not None:
            return ended
    return exchange.end(None)


class _SentPacket(NamedTuple):
    """A packet of the exchange that was walked."""

    act: Act
    place: ConnectionEnd
    """Who sent it."""
    skb: Skb
    trace: Trace


class _Exchange:
    """A connection under way, in one branch: its ends as far as they are known, and what was walked
    of it.
    """

    def __init__(self, walk: Walk, probe: Probe, first: Act) -> None:
        """Place the sender; its socket connects as the probe says."""
        client = place_sender(walk, probe)
        check_device(walk, client, probe.sending.device)
        asked = first_packet(connect_to_self(client, probe), first)
        self._walk, self._sending = walk, probe.sending
        self._ends = ConnectionEnds(client, asked, bound=probe.sending.device)
        self._traces: list[Trace] = []
        self._lost: FailedPacket | None = None
        """Of a pure ACK: its sender goes on where nothing resets it, and what it sends next
        acknowledges as well.
        """
        self._unheard: tuple[Trace, ...] = ()
        """The answers to the packet that was lost."""
        self._unaccepted = False
        """The server acknowledges at once what completed its handshake: no process has accepted
        that socket yet.
        """

    def send(self, act: Act) -> _SentPacket | None:
        """Walk the packet that comes next; None for one that everything on its way takes for
        sure.
        """
        place, made = _make_next(self._walk, self._ends, act)
        packet = self._size(made, act)
        if packet is None:
            return None
        skb = _hand_over(self._walk, self._ends, packet, act, self._sending)
        skb.by_kernel = skb.by_kernel or (self._unaccepted and act.reply and skb.link is None)
        trace = drive_packet(self._walk, act.name, skb, packet, reply=act.reply)
        if self._sending.midway and not act.reply:
            trace = doubt(self._walk, skb, trace)
        return _SentPacket(act, place, skb, trace)

    def _size(self, packet: Packet, act: Act) -> Packet | None:
        """Return a packet with the size that its act and the probe give it."""
        walk, traces = self._walk, self._traces
        if act.full:
            length = largest_packet(walk, traces, reply=act.reply)
            if not walk.engine.wires and not may_not_fit(walk, traces, length):
                return None
            packet = fill(packet, length)
        return with_sending(walk, traces, packet, self._sending, reply=act.reply)

    def receive(self, sent: _SentPacket) -> FailedPacket | None:
        """Let the end that a packet was for take it; return why it does not."""
        if _is_outer(sent.skb, sent.trace):
            return outer_delivered(sent.trace)
        ends, failure = judge(self._walk, self._ends, sent.act, sent.trace)
        if failure is not None:
            return failure
        self._traces += (*self._unheard, sent.trace)
        self._unaccepted = self._lost is not None
        self._ends, self._lost, self._unheard = ends, None, ()
        return None

    def go_on(
        self, sent: _SentPacket, failure: FailedPacket, following: Act | None
    ) -> Branch | None:
        """Return how the connection ends by a packet that failed; None where its sender sends
        on.
        """
        answers = answer_to(self._walk, sent.skb, sent.trace)
        if sent.act.full and sends_smaller(sent.trace, sent.place, answers):
            self._traces.append(sent.trace)
            return None
        if self._lost is not None:
            return self.end(self._lost, (*self._unheard, sent.trace, *answers))
        self._traces.append(sent.trace)
        is_reset = any(_resets(answer, sent.trace.packet) for answer in answers)
        if is_reset or not _may_go_on(sent.act, following, failure):
            return self.end(failure, answers)
        self._lost, self._unheard = failure, answers
        return None

    def end(self, failure: FailedPacket | None, answers: tuple[Trace, ...] = ()) -> Branch:
        """Return the branch as it ends, with what its sender was told."""
        kind = failure.kind if failure is not None else ConversationFailure.NONE
        return Branch(
            assumptions=tuple(self._walk.choices.made),
            traces=tuple(self._traces),
            works=None if kind is ConversationFailure.UNDECIDED else failure is None,
            failure=failure.what if failure is not None else None,
            kind=kind,
            answers=answers,
            tracked=list_entries(self._walk.learned.conntrack),
            drawn_ports=tuple(self._walk.draws.ports.values()),
            discovery=tuple(self._walk.learned.discovery),
        )


def _make_next(walk: Walk, ends: ConnectionEnds, act: Act) -> tuple[ConnectionEnd, Packet]:
    """Make the packet that comes next, and say who sends it."""
    asked, seen = ends.asked, ends.seen
    if not act.reply or ends.server is None or seen is None:
        src, dst = (asked.src, asked.sport), (asked.dst, asked.dport)
        return ends.client, make_packet(asked.protocol, act, src, dst)
    source = answer_source(walk, ends.server, seen)
    packet = make_packet(seen.protocol, act, (source, seen.dport), (seen.src, seen.sport))
    if seen.protocol in ECHO:
        # An echo is answered with the TOS that it came with, and may be fragmented:
        # net/ipv4/icmp.c:icmp_reply v6.12.
        packet = packet._replace(tos=seen.tos, dont_fragment=False)
    return ends.server, packet


def _hand_over(walk: Walk, ends: ConnectionEnds, packet: Packet, act: Act, sending: Sending) -> Skb:
    """Send a packet from its end, with what the socket there has set."""
    place = ends.server if act.reply and ends.server is not None else ends.client
    skb = send_from(walk, place, packet, by_kernel=act.reply and packet.protocol in ECHO)
    skb.transparent = ends.proxied and act.reply
    if skb.link is None:
        _set_options(skb, sending, act)
    if skb.link is None and _has_hash(packet, reply=act.reply):
        skb.hashed = (place.netns, act.reply)
    return skb


def _set_options(skb: Skb, sending: Sending, act: Act) -> None:
    """Give a packet what the socket that sends it has set: the client's as the probe says."""
    skb.may_be_gso = act.full
    if not act.reply:
        skb.uid, skb.mark, skb.own_ttl = sending.uid, sending.mark, sending.ttl is not None
        skb.bound = sending.device or None
    discovers = not act.reply and bool(sending.dont_fragment)
    skb.ignore_df = skb.packet.protocol != protocols.TCP and not discovers


def _has_hash(packet: Packet, *, reply: bool) -> bool:
    """Tell whether the sender's socket is connected, and so gives its packets a hash of its own
    (`skb_set_hash_from_sk`).
    """
    return packet.protocol == protocols.TCP or (packet.protocol == protocols.UDP and not reply)


def _is_outer(skb: Skb, trace: Trace) -> bool:
    """Tell whether a process was handed a tunnel's outer packet: it cannot answer what is
    inside.
    """
    return skb.inner is not None and isinstance(trace.outcome, Delivered)


def _may_go_on(act: Act, following: Act | None, failure: FailedPacket) -> bool:
    """Tell whether the loss of a packet may leave its sender sending: it was a bare ACK, and the
    next packet is its own too.
    """
    bare = act.flags == protocols.ACK and not act.payload
    return (
        bare
        and failure.kind != ConversationFailure.UNDECIDED
        and following is not None
        and following.reply is act.reply
    )


def _resets(answer: Trace, packet: Packet) -> bool:
    """Tell whether an answer to a packet is a reset that reaches the socket which sent it."""
    outcome = answer.outcome
    if not answer.packet.flags & protocols.RST or not isinstance(outcome, Delivered | Transmitted):
        return False
    came = outcome.packet
    ends = came.src, came.sport, came.dst, came.dport
    return ends == (packet.dst, packet.dport, packet.src, packet.sport)
