"""What conntrack makes of a packet (net/netfilter/nf_conntrack_core.c:nf_conntrack_in v6.12), and
confirms at the end.
"""

from __future__ import annotations

from podpath.datapath.conntrack import icmp, tcp
from podpath.datapath.conntrack.connection import DEFAULT_ZONE, Connection, Zone
from podpath.datapath.conntrack.settings import ConntrackSettings
from podpath.datapath.conntrack.table import ConntrackTable, TableSnapshot, index
from podpath.datapath.conntrack.tuples import (
    ICMPS,
    inverse,
    inverse_kind,
    packet_key,
    packet_kind,
    packet_tuple,
    tuple_key,
)
from podpath.datapath.conntrack.watched_table import watch_table
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import Drop, Verdict
from podpath.datapath.reasons import tracking as reasons
from podpath.datapath.reasons.tracking import InvalidReason, TrackingNote, TrackingReason
from podpath.datapath.vocabulary import CONNTRACK, CtInfo, Hook, HookStage, StepDecision
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.provenance import Option, Span
from podpath.node.node import Netns

TRACK = "net/netfilter/nf_conntrack_core.c:nf_conntrack_in v6.12"
CONFIRM = "net/netfilter/nf_conntrack_core.c:__nf_conntrack_confirm v6.12"
_DECISIONS = {
    CtInfo.NEW: StepDecision.NEW,
    CtInfo.ESTABLISHED: StepDecision.ESTABLISHED,
    CtInfo.RELATED: StepDecision.RELATED,
}
CLASH_ALLOWED = frozenset({protocols.UDP, protocols.UDPLITE, protocols.ICMP, protocols.ICMPV6})


def conntrack_table(walk: Walk, netns: Netns) -> ConntrackTable:
    """Return the table of a namespace in this branch, seeded from the evidence when it is first
    asked for.
    """
    table = walk.learned.conntrack.get(netns.name)
    if table is None:
        snapshot = track_known(walk.engine, netns)
        made = watch_table if walk.engine.watched else ConntrackTable
        table = walk.learned.conntrack[netns.name] = made(snapshot)
    return table


def track_known(engine: Engine, netns: Netns) -> TableSnapshot:
    """Return the evidence's entries of a namespace, indexed when they are first asked for."""
    snapshot: TableSnapshot | None = engine.tracked.get(netns.name)
    if snapshot is None:
        snapshot = engine.tracked[netns.name] = index(netns.conntrack.items)
    return snapshot


def track(state: HookState) -> Verdict | None:
    """Find or make the packet's connection and say what the packet is to it."""
    skb = state.skb
    if skb.connection is not None or skb.ctinfo == CtInfo.UNTRACKED:
        # Seen before: over lo from OUTPUT, or kept from conntrack by a rule.
        return None
    if skb.packet.fragment:
        # nf_defrag (priority -400) has put the datagram together: rules see no fragments where
        # conntrack is on.
        skb.packet = skb.packet._replace(fragment=False)
    table = conntrack_table(state.walk, skb.netns)
    zone = skb.template.zone if skb.template is not None else DEFAULT_ZONE
    if skb.packet.protocol in ICMPS and icmp.is_special(skb.packet):
        _track_special(state, table, zone)
        return None
    return _track_normal(state, table, zone)


def confirm(state: HookState) -> Verdict | None:
    """Enter a new connection into the table, now that its first packet got through
    (`nf_confirm`).
    """
    skb = state.skb
    connection = skb.connection
    if connection is None or connection.confirmed or skb.reply:
        return None
    table = conntrack_table(state.walk, skb.netns)
    zone = connection.zone
    for entry, kind, reply in (
        (connection.original, connection.kind, False),
        (connection.reply, connection.reply_kind, True),
    ):
        found = table.find(tuple_key(entry, kind, zone.in_direction(reply=reply)), zone)
        other = found[0] if found is not None else connection
        same = (other.original, other.reply) == (connection.original, connection.reply)
        if other is not connection and not (same and connection.original.protocol in CLASH_ALLOWED):
            taken = reasons.TupleTaken(other.original)
            state.walk.trace.step(
                HookStage(state.hook, "conntrack confirm"),
                skb,
                CONFIRM,
                skb.packet,
                StepDecision.DROP,
                taken,
            )
            return Drop("NETFILTER_DROP")
    table.insert(connection)
    return None


def attach_answer(answer: Skb, cause: Skb) -> None:
    """Hang a packet's connection on the reset or ICMP error that answers it
    (`nf_conntrack_attach`).

    So the answer is translated back, even where the connection was never confirmed.
    """
    connection = cause.connection
    if connection is None:
        if cause.ctinfo == CtInfo.UNTRACKED:
            # to no connection: a rule calls it INVALID, and NOTRACK leaves what has a state alone
            answer.ctinfo = CtInfo.RELATED
        return
    answer.connection, answer.ctinfo, answer.reply = connection, CtInfo.RELATED, not cause.reply
    if connection.confirmed and answer.packet.protocol == protocols.TCP:
        connection.state = tcp.CLOSE


def _track_special(state: HookState, table: ConntrackTable, zone: Zone) -> None:
    """Handle ICMP errors, which belong to the connection they quote, and messages that conntrack
    leaves alone.
    """
    skb = state.skb
    if icmp.is_untracked(skb.packet):
        skb.ctinfo, skb.template = CtInfo.UNTRACKED, None
        return
    found = icmp.find_quoted(table, skb.packet, zone)
    if isinstance(found, InvalidReason):
        _declare_invalid(state, found)
        return
    skb.connection, skb.reply = found
    skb.ctinfo = CtInfo.RELATED
    _step(state, StepDecision.RELATED, reasons.RelatedError(skb.connection.original))


def _track_normal(state: HookState, table: ConntrackTable, zone: Zone) -> Verdict | None:
    skb = state.skb
    packet = skb.packet
    found = table.find(packet_key(packet, zone.in_direction(reply=False)), zone)
    settings = ConntrackSettings(state.walk.choices, skb.netns)
    why = _check_packet(state, settings)
    if why is not None:
        _declare_invalid(state, why)
        return None
    if found is not None:
        connection, reply = found
    else:
        made = _open(packet_kind(packet), skb, zone)
        if made is None:
            _declare_invalid(state, reasons.AnswersNoQuery())
            return None
        if settings.is_full and _is_turned_away(state, settings):
            return Drop("NETFILTER_DROP")
        connection, reply = made, False
    if packet.protocol != protocols.TCP:
        _attach(state, connection, reply=reply)
        return None
    ruling = _track_tcp(state, connection, settings, reply=reply)
    if ruling.repeat:
        table.delete(connection)
        return _track_normal(state, table, zone)
    if ruling.invalid is not None:
        _declare_invalid(state, ruling.invalid, connection if connection.confirmed else None)
        return None
    _attach(state, connection, reply=reply, note=ruling.note)
    if ruling.kill:
        table.delete(connection)
    return None


def _track_tcp(
    state: HookState, connection: Connection, settings: ConntrackSettings, *, reply: bool
) -> tcp.Ruling:
    packet = state.skb.packet
    if not connection.confirmed:
        ruling = tcp.open_connection(connection, packet, settings)
        if not ruling.valid:
            return ruling
    return tcp.track_segment(connection, packet, settings, reply=reply)


def _check_packet(state: HookState, settings: ConntrackSettings) -> InvalidReason | None:
    """Say why a packet is invalid in itself; None where it is not."""
    packet = state.skb.packet
    if packet.bad_checksum and state.hook == Hook.PREROUTING and settings.checksum:
        return reasons.BadChecksum()
    if packet.protocol == protocols.TCP:
        return tcp.check_flags(packet).invalid
    return None


def _open(kind: int, skb: Skb, zone: Zone) -> Connection | None:
    """Make an unconfirmed entry for the packet; None where its protocol does not let it open a
    connection.
    """
    packet = skb.packet
    original = packet_tuple(packet)
    answer = inverse_kind(original.protocol, kind)
    if answer is None or (original.protocol in ICMPS and not icmp.is_opener(packet)):
        return None
    connection = Connection(original, inverse(original), kind=kind, reply_kind=answer, zone=zone)
    if skb.template is not None:
        connection.helper = skb.template.helper
    return connection


def _attach(
    state: HookState, connection: Connection, *, reply: bool, note: TrackingNote | None = None
) -> None:
    """Hang the connection on the packet, with what the packet is to it (`resolve_normal_ct`)."""
    skb = state.skb
    skb.connection = connection
    skb.reply = reply
    if reply or connection.seen_reply:
        skb.ctinfo = CtInfo.ESTABLISHED
    else:
        skb.ctinfo = CtInfo.RELATED if connection.expected else CtInfo.NEW
    protocol = connection.original.protocol
    if connection.seen_reply and (
        protocol == protocols.GRE or (protocol == protocols.UDP and connection.span is not None)
    ):
        # Of UDP an entry that the evidence shows is older than the two seconds after which a stream
        # counts (nf_conntrack_udp_packet); of GRE any is, once it was answered
        # (nf_conntrack_gre_packet).
        connection.assured = True
    if reply:
        connection.seen_reply = True
    _step(
        state,
        _DECISIONS[skb.ctinfo],
        reasons.TrackedAs(connection.original, skb.ctinfo == CtInfo.NEW, reply, note),
    )


def _declare_invalid(
    state: HookState, why: InvalidReason, connection: Connection | None = None
) -> None:
    state.skb.ctinfo = CtInfo.INVALID
    state.skb.connection = state.skb.template = None
    _step(
        state,
        StepDecision.INVALID,
        reasons.ConntrackInvalid(why, connection.original if connection is not None else None),
    )


def _is_turned_away(state: HookState, settings: ConntrackSettings) -> bool:
    """Ask whether the full table drops the new connection: it may find an entry that it can drop
    early.
    """
    options = (
        Option(True, "the table is full and no entry can be dropped early"),
        Option(False, "an entry without traffic in both directions is dropped early"),
    )
    name = f"conntrack table of netns {state.skb.netns.name} is full"
    full = state.walk.choices.choose(name, options, ask="conntrack -S; dmesg | grep nf_conntrack")
    if full:
        _step(state, StepDecision.DROP, reasons.ConntrackFull(), settings.limits)
    return full


def _step(
    state: HookState, decision: StepDecision, reason: TrackingReason, spans: tuple[Span, ...] = ()
) -> None:
    skb = state.skb
    connection = skb.connection
    if connection is not None and connection.span is not None:
        spans = (connection.span, *spans)
    state.walk.trace.step(
        HookStage(state.hook, CONNTRACK), skb, TRACK, skb.packet, decision, reason, spans=spans
    )
