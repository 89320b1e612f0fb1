"""A whole connection through a node: handshake, data and its replies, with conntrack carried from
packet to packet.

Both ends behave as hosts do: a server answers the tuple that it saw, a client takes an answer only
for the tuple that it connected with, and a host outside the node is presumed to answer. What a
bypass hides from conntrack, or a reply that was not translated back, so shows where it breaks the
connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.datapath.conntrack.remains import list_entries
from podpath.datapath.conntrack.tuples import inverse, packet_tuple
from podpath.datapath.conversations.answers import refuse
from podpath.datapath.conversations.full_size import (
    fill,
    largest_packet,
    may_not_fit,
    sends_smaller,
    with_sending,
)
from podpath.datapath.conversations.midway import doubt
from podpath.datapath.conversations.own_address import answer_source, connect_to_self
from podpath.datapath.conversations.places import (
    ConnectionEnd,
    check_device,
    place_of,
    place_sender,
    send_from,
)
from podpath.datapath.netfilter.tracking import attach_answer
from podpath.datapath.reasons import failures
from podpath.datapath.reasons.failures import Failure
from podpath.datapath.routing.reasons import kernel_version
from podpath.datapath.stages.driver import drive
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.exploration import Choices, Exploration, explore
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.trace import (
    Branch,
    Conversation,
    Delivered,
    Dropped,
    Outcome,
    Rejected,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.datapath.vocabulary import (
    ConversationFailure,
    Direction,
    GivenSocket,
    PacketType,
    Reachability,
    StageName,
)
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.learned import SocketKey
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.datapath.walk.trace_builder import TraceBuilder
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.probe import Probe, Sending
from podpath.node.cluster import is_followed
from podpath.node.node import NetnsRole, Node

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
ERRORS_AT_ONCE = 6
"""How many errors a host sends another at once, whatever a token of its rate limit takes
(XRLIM_BURST_FACTOR, net/ipv4/inetpeer.c:inet_peer_xrlim_allow v6.12).
"""
RESETS_HAVE_OWNERS = (6, 13)
"""Since which kernel a listening socket's reset is that socket's."""


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

_ECHO = frozenset({protocols.ICMP, protocols.ICMPV6})


class _Ends(NamedTuple):
    """The two tuples of a connection: as the client made it, and as the server saw it first."""

    client: ConnectionEnd
    asked: Packet
    server: ConnectionEnd | None = None
    seen: Packet | None = None
    bound: str = ""
    """The device that the client's socket is bound to; empty for none."""
    proxied: bool = False
    """True where a rule gave the connection to a transparent socket."""


class _Failure(NamedTuple):
    kind: ConversationFailure
    what: Failure


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
    acts = script or _usual_script(probe)
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
    return _run(engine, probe, choices, _usual_script(probe))


def conclude(probe: Probe, explored: Exploration[Branch]) -> Conversation:
    """Return the conversation that has these branches."""
    return Conversation(
        probe=probe,
        branches=explored.results,
        verdict=sum_up(explored.results),
        truncated=explored.truncated,
        pruned=explored.pruned,
    )


def _usual_script(probe: Probe) -> tuple[Act, ...]:
    """Return the packets of a probe's connection, with the full ones of TCP."""
    acts = _script_for(probe)
    if acts is _SCRIPTS[protocols.TCP] and probe.sending.size is None:
        return (*acts, *_FULL_DATA)
    return acts


def sum_up(branches: tuple[Branch, ...]) -> Reachability:
    """Return what becomes of a connection in all of these branches; there is at least one."""
    works = {branch.works for branch in branches}
    if branches[0].works is None:
        return Reachability.UNDECIDED
    if works == {True}:
        return Reachability.ALWAYS
    if False not in works:
        return Reachability.UNDECIDED
    return Reachability.NEVER if works == {False} else Reachability.SOMETIMES


def first_packet(probe: Probe, act: Act) -> Packet:
    """Make the first packet of a probe."""
    echo = probe.protocol in _ECHO
    return _packet(
        probe.protocol,
        act,
        (probe.src, probe.sport),
        (probe.dst, probe.sport if echo else probe.dport),
    )


def script_of(protocol: int) -> tuple[Act, ...]:
    """Return the packets of a connection of a protocol."""
    return _SCRIPTS.get(protocol, _SCRIPTS[protocols.UDP])


def _script_for(probe: Probe) -> tuple[Act, ...]:
    """Return the packets that a probe asks for."""
    flags = probe.sending.flags
    if flags is not None:
        return (Act("segment", False, flags, 1, 1 if flags & protocols.ACK else 0),)
    return _MIDWAY if probe.sending.midway else script_of(probe.protocol)


def _packet(protocol: int, act: Act, src: tuple[Address, int], dst: tuple[Address, int]) -> Packet:
    length = (
        HEADERS.get(protocol, 48) + act.payload + (SYN_OPTIONS if act.flags & protocols.SYN else 0)
    )
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


def _run(engine: Engine, probe: Probe, choices: Choices, script: tuple[Act, ...]) -> Branch:
    """Walk one branch of the conversation to its end."""
    walk = Walk(engine, choices)
    client, probe = _begin(walk, probe)
    ends = _Ends(client, first_packet(probe, script[0]), bound=probe.sending.device)
    traces: list[Trace] = []
    lost: _Failure | None = None
    """Of a pure ACK: its sender goes on where nothing resets it, and what it sends next
    acknowledges as well.
    """
    unaccepted = False
    """The server acknowledges at once what completed its handshake: no process has accepted that
    socket yet.
    """
    unheard: tuple[Trace, ...] = ()
    for act, following in zip(script, (*script[1:], None), strict=True):
        place, packet = _next(walk, ends, act)
        sized = _size(walk, traces, packet, act, probe.sending)
        if sized is None:
            break
        packet = sized
        skb = _hand_over(walk, ends, packet, act, probe.sending)
        skb.by_kernel = skb.by_kernel or (unaccepted and act.reply and skb.link is None)
        trace = drive_packet(walk, act.name, skb, packet, reply=act.reply)
        if probe.sending.midway and not act.reply:
            trace = doubt(walk, skb, trace)
        after, failure = (
            _judge(walk, ends, act, trace)
            if not _is_outer(skb, trace)
            else (ends, _outer_delivered(trace))
        )
        if failure is None:
            traces += (*unheard, trace)
            ends, unaccepted, lost, unheard = after, lost is not None, None, ()
            continue
        answers = answer_to(walk, skb, trace)
        if act.full and sends_smaller(trace, place, answers):
            traces.append(trace)
            continue
        if (
            lost is None
            and _goes_on(act, following, failure)
            and not any(_resets(answer, packet) for answer in answers)
        ):
            lost, unheard = failure, answers
            traces.append(trace)
            continue
        if lost is None:
            traces.append(trace)
        else:
            failure, answers = lost, (*unheard, trace, *answers)
        return _branch(walk, traces, failure, answers)
    return _branch(walk, traces, None, ())


def _begin(walk: Walk, probe: Probe) -> tuple[ConnectionEnd, Probe]:
    """Place the sender; return the probe as its socket connects."""
    client = place_sender(walk, probe)
    check_device(walk, client, probe.sending.device)
    return client, connect_to_self(client, probe)


def _size(
    walk: Walk, traces: Sequence[Trace], packet: Packet, act: Act, sending: Sending
) -> Packet | None:
    """Return a packet with the size that its act and the probe give it; None for a full one that
    everything on its way takes for sure.
    """
    if act.full:
        length = largest_packet(walk, traces, reply=act.reply)
        if not walk.engine.wires and not may_not_fit(walk, traces, length):
            return None
        packet = fill(packet, length)
    return with_sending(walk, traces, packet, sending, reply=act.reply)


def _hand_over(walk: Walk, ends: _Ends, packet: Packet, act: Act, sending: Sending) -> Skb:
    """Send a packet from its end, with what the socket there has set."""
    place = ends.server if act.reply and ends.server is not None else ends.client
    skb = send_from(walk, place, packet, by_kernel=act.reply and packet.protocol in _ECHO)
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


def _branch(
    walk: Walk, traces: list[Trace], failure: _Failure | None, answers: tuple[Trace, ...]
) -> Branch:
    assumptions = tuple(walk.choices.made)
    tracked, drawn = list_entries(walk.learned.conntrack), tuple(walk.draws.ports.values())
    if failure is None:
        return Branch(
            assumptions=assumptions,
            traces=tuple(traces),
            works=True,
            tracked=tracked,
            drawn_ports=drawn,
            discovery=tuple(walk.learned.discovery),
        )
    return Branch(
        assumptions=assumptions,
        traces=tuple(traces),
        works=None if failure.kind == ConversationFailure.UNDECIDED else False,
        failure=failure.what,
        kind=failure.kind,
        answers=answers,
        tracked=tracked,
        drawn_ports=drawn,
        discovery=tuple(walk.learned.discovery),
    )


def _goes_on(act: Act, following: Act | None, failure: _Failure) -> bool:
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
    return (came.src, came.sport, came.dst, came.dport) == (
        packet.dst,
        packet.dport,
        packet.src,
        packet.sport,
    )


def _next(walk: Walk, ends: _Ends, act: Act) -> tuple[ConnectionEnd, Packet]:
    """Make the packet that comes next, and say who sends it."""
    asked, seen = ends.asked, ends.seen
    if not act.reply or ends.server is None or seen is None:
        return ends.client, _packet(
            asked.protocol, act, (asked.src, asked.sport), (asked.dst, asked.dport)
        )
    source = answer_source(walk, ends.server, seen)
    packet = _packet(seen.protocol, act, (source, seen.dport), (seen.src, seen.sport))
    if seen.protocol in _ECHO:
        # An echo is answered with the TOS that it came with, and may be fragmented:
        # net/ipv4/icmp.c:icmp_reply v6.12.
        packet = packet._replace(tos=seen.tos, dont_fragment=False)
    return ends.server, packet


def drive_packet(  # a trace is made of these
    walk: Walk,
    name: str,
    skb: Skb,
    packet: Packet,
    *,
    reply: bool,
    path: paths.PathName | None = None,
) -> Trace:
    """Walk one packet from where its sender hands it over, and give its trace."""
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
    outcome, direction = trace.outcome, trace.direction == Direction.ORIGINAL
    if isinstance(outcome, Rejected | Dropped) and skb.answer is not None:
        error = Skb(skb.answer, walk.engine.node.namespaces[outcome.netns], by_kernel=True)
        error.failed_at = skb.failed_at
        error.partial = skb.answer.protocol == protocols.TCP
        attach_answer(error, skb)
        name = _name_answer(outcome)
        path = _turn_back(error, skb)
        told = drive_packet(walk, name, error, error.packet, reply=direction, path=path)
        return error, told
    if not isinstance(outcome, Delivered | Transmitted):
        return None
    if isinstance(outcome, Delivered) and _takes_datagram(walk, outcome):
        return None
    if skb.pkt_type in {PacketType.BROADCAST, PacketType.MULTICAST}:
        return None
    answer = refuse(outcome.packet)
    if answer is None:
        return None
    name = "RST" if answer.protocol == protocols.TCP else "icmp-port-unreachable"
    owned = isinstance(outcome, Delivered) and _resets_as_listener(walk, outcome)
    refusal = send_from(walk, place_of(walk, outcome), answer, by_kernel=not owned)
    refusal.partial = False
    refusal.transparent = isinstance(outcome, Delivered) and outcome.given is not None
    return refusal, drive_packet(walk, name, refusal, answer, reply=direction)


def _name_answer(outcome: Rejected | Dropped) -> str:
    if isinstance(outcome, Dropped):
        return "icmp-port-unreachable"
    return "icmp-host-unreachable" if outcome.answer == "EHOSTUNREACH" else outcome.answer


def _resets_as_listener(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a reset has the owner of the socket that listens there
    (`net/ipv4/ip_output.c:ip_send_unicast_reply v6.13`, which before knew the kernel's own alone).
    """
    netns, packet = walk.engine.node.namespaces[outcome.netns], outcome.packet
    kernel = walk.engine.node.home_of(netns).kernel
    tcp = packet.protocol == protocols.TCP
    return tcp and kernel_version(kernel) >= RESETS_HAVE_OWNERS and _is_heard(walk, outcome)


def _turn_back(answer: Skb, cause: Skb) -> paths.PathName | None:
    """Give a reset about what br_netfilter saw the MACs of its cause, the other way around; return
    the path that leads it out of the port, None where it goes the way of any packet.
    """
    if cause.physin is None or answer.packet.protocol != protocols.TCP:
        return None
    answer.physin = cause.physin
    answer.packet = with_macs(answer.packet, cause.packet.dmac, cause.packet.smac)
    return paths.RESET


def _judge(walk: Walk, ends: _Ends, act: Act, trace: Trace) -> tuple[_Ends, _Failure | None]:
    """Say what the end that a packet was for makes of it."""
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
    if opens and isinstance(outcome, Delivered) and not _is_heard(walk, outcome):
        return ends, _Failure(
            ConversationFailure.REFUSED,
            failures.NobodyListens(trace.name, outcome.netns, packet),
        )
    return _begun(walk, ends, trace, place, packet), None


def _begun(walk: Walk, ends: _Ends, trace: Trace, place: ConnectionEnd, packet: Packet) -> _Ends:
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


def _is_outer(skb: Skb, trace: Trace) -> bool:
    """Tell whether a process was handed a tunnel's outer packet: it cannot answer what is
    inside.
    """
    return skb.inner is not None and isinstance(trace.outcome, Delivered)


def _outer_delivered(trace: Trace) -> _Failure:
    return _Failure(ConversationFailure.MISDELIVERED, failures.OuterDelivered(trace.name))


def _end(trace: Trace, outcome: Dropped | Rejected | Undecided) -> _Failure:
    step = trace.deciding
    match outcome:
        case Dropped():
            return _Failure(
                ConversationFailure.DROPPED,
                failures.PacketDropped(trace.name, outcome.netns, step.stage, step.reason),
            )
        case Rejected():
            rejected = failures.PacketRejected(
                trace.name, outcome.netns, step.stage, outcome.answer, step.reason
            )
            return _Failure(ConversationFailure.REJECTED, rejected)
        case Undecided():
            undecided = failures.PacketUndecided(
                trace.name, outcome.netns, step.stage, outcome.reason
            )
            return _Failure(ConversationFailure.UNDECIDED, undecided)


def _left_cluster(walk: Walk, trace: Trace, outcome: Transmitted) -> _Failure | None:
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
            return _Failure(ConversationFailure.LEFT_NODE, left)
    return None


def _judge_reply(
    ends: _Ends, trace: Trace, place: ConnectionEnd, packet: Packet
) -> _Failure | None:
    asked = ends.asked
    if not place.same(ends.client):
        return _misdelivered(trace, place, ends.client, reply=True)
    if _goes_to_listener(trace.outcome):
        return _stray(trace, packet, asked)
    came = _came_by(trace)
    if ends.bound and came and came not in {ends.bound, "lo"}:
        return _Failure(
            ConversationFailure.MISDELIVERED, failures.CameByOther(trace.name, came, ends.bound)
        )
    if (packet.src, packet.dst, packet.dport) == (asked.dst, asked.src, asked.sport) and (
        packet.sport == asked.dport or packet.protocol in _ECHO
    ):
        return None
    return _Failure(
        ConversationFailure.UNTRANSLATED, failures.NotTranslatedBack(trace.name, packet, asked)
    )


def _came_by(trace: Trace) -> str:
    """Return the device by which a packet came to where it ended: `lo` for what a host sends to
    itself, whatever device it names; empty where no step tells.
    """
    steps = (step for step in reversed(trace.steps) if step.stage is StageName.DEVICE_RECEIVE)
    return next((step.link or "" for step in steps), "")


def _misdelivered(
    trace: Trace, place: ConnectionEnd, wanted: ConnectionEnd, *, reply: bool
) -> _Failure:
    return _Failure(
        ConversationFailure.MISDELIVERED,
        failures.Misdelivered(trace.name, place.end, wanted.end, reply),
    )


def _judge_later(
    server: ConnectionEnd, seen: Packet, trace: Trace, place: ConnectionEnd, packet: Packet
) -> _Failure | None:
    if not place.same(server):
        return _misdelivered(trace, place, server, reply=False)
    if _goes_to_listener(trace.outcome):
        return _stray(trace, packet, seen)
    if (packet.src, packet.dst, packet.sport, packet.dport) == (
        seen.src,
        seen.dst,
        seen.sport,
        seen.dport,
    ):
        return None
    return _stray(trace, packet, seen)


def _stray(trace: Trace, packet: Packet, seen: Packet) -> _Failure:
    return _Failure(ConversationFailure.STRAY, failures.StrayPacket(trace.name, packet, seen))


def _goes_to_listener(outcome: Outcome) -> bool:
    """Tell whether a rule gave a packet to a proxy's listener: where it is of a connection that has
    begun, that knows nothing of it.
    """
    return (
        isinstance(outcome, Delivered)
        and outcome.given is GivenSocket.LISTENER
        and outcome.packet.protocol == protocols.TCP
    )


def _note_client(walk: Walk, ends: _Ends) -> None:
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


def _takes_datagram(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a socket is listed that takes a datagram from anybody."""
    netns = walk.engine.node.namespaces[outcome.netns]
    return (
        outcome.packet.protocol == protocols.UDP
        and netns.shows_sockets(protocols.UDP)
        and _is_heard(walk, outcome)
    )


def _is_heard(walk: Walk, outcome: Delivered) -> bool:
    """Tell whether a socket takes what is delivered: that which a rule gave it to, else one at its
    address and port.
    """
    netns, packet = walk.engine.node.namespaces[outcome.netns], outcome.packet
    if outcome.given is not None:
        return True
    return netns.listens(packet.protocol, packet.dst, packet.dport)
