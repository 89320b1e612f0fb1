"""`... set ...`: a field of the packet, its mark or its connection's given a new value
(nft_payload_set_eval, nft_meta_set_eval, nft_ct_set_eval v6.12).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podpath.datapath.conntrack.connection import Template, Zone
from podpath.datapath.netfilter.state import Decision, Doubt, HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.nftables.datatypes import PACKET_TYPES
from podpath.datapath.nftables.fields import TRANSPORTS, Read, meta_field, payload_field
from podpath.datapath.nftables.segments import (
    SEGMENT_SIZE,
    set_segment_size,
    tcp_option_field,
)
from podpath.datapath.nftables.unfollowed import may_stop
from podpath.datapath.nftables.values import Compiled, RulePosition, compile_value
from podpath.datapath.reasons.rules import PacketChanged
from podpath.datapath.vocabulary import CtInfo, PacketType, StepDecision
from podpath.datapath.walk.skb import Skb, is_untouched
from podpath.net import nft
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.node.nftables_text import emit_statement

SILENT = frozenset(
    {
        ("meta", "nftrace"),
        ("meta", "priority"),
        ("meta", "secmark"),
        ("ct", "event"),
        ("ct", "label"),
        ("ct", "helper"),
        ("ct", "secmark"),
        ("meta", "cgroup"),
    }
)
"""Fields that decide nothing of a packet's way."""
Put = Callable[[Packet, int], Packet]


def _mac(value: int) -> Mac:
    return Mac(value.to_bytes(6, "big").hex(":"))


_PAYLOAD: Mapping[tuple[str, str], Put] = {
    ("ip", "saddr"): lambda packet, value: packet._replace(src=Address(4, value)),
    ("ip", "daddr"): lambda packet, value: packet._replace(dst=Address(4, value)),
    ("ip6", "saddr"): lambda packet, value: packet._replace(src=Address(6, value)),
    ("ip6", "daddr"): lambda packet, value: packet._replace(dst=Address(6, value)),
    ("ip", "ttl"): lambda packet, value: packet._replace(ttl=value & 255),
    ("ip6", "hoplimit"): lambda packet, value: packet._replace(ttl=value & 255),
    ("ip", "dscp"): lambda packet, value: packet._replace(tos=packet.tos & 3 | value << 2 & 0xFC),
    ("ip6", "dscp"): lambda packet, value: packet._replace(tos=packet.tos & 3 | value << 2 & 0xFC),
    ("ip", "ecn"): lambda packet, value: packet._replace(tos=packet.tos & 0xFC | value & 3),
    ("ether", "saddr"): lambda packet, value: packet._replace(smac=_mac(value)),
    ("ether", "daddr"): lambda packet, value: packet._replace(dmac=_mac(value)),
    **{
        (name, "sport"): lambda packet, value: packet._replace(sport=value)
        for name in (*TRANSPORTS, "th")
    },
    **{
        (name, "dport"): lambda packet, value: packet._replace(dport=value)
        for name in (*TRANSPORTS, "th")
    },
}


def compile_change(
    statement: nft.Mangle, place: RulePosition
) -> Callable[[HookState], nft.NftVerdict | Verdict | None]:
    """Compile a change; `ValueError` for a field that is not modeled."""
    field = statement.field
    if _is_silent(field):
        return lambda _: None
    datatype, apply = _target(field)
    value = compile_value(statement.value, place, datatype)
    guard = _presence(field)
    rule = place.rule
    stop = may_stop(place, emit_statement(statement))

    def change(state: HookState) -> nft.NftVerdict | Verdict | None:
        number = _read(value, state)
        if number is None or (guard is not None and guard(state) is None):
            return nft.NftVerdict("break")
        if isinstance(number, Doubt):
            return stop(state)
        packet, marks = state.skb.packet, _marks(state.skb)
        apply(state, number)
        rewritten = state.skb.packet != packet
        if rewritten or _marks(state.skb) != marks:
            word = StepDecision.REWRITE if rewritten else StepDecision.MARK
            state.decision = Decision(word, PacketChanged(rule, statement), rule.span)
        return None

    return change


def _is_silent(field: nft.Expression) -> bool:
    """Tell whether a field decides nothing of a packet's way."""
    if isinstance(field, nft.Meta | nft.Ct):
        return (type(field).__name__.lower(), field.key) in SILENT
    return isinstance(field, nft.TcpOption) and field != SEGMENT_SIZE


def _marks(skb: Skb) -> tuple[int, int]:
    """Return the mark of a packet and that of its connection."""
    return skb.mark, skb.connection.mark if skb.connection is not None else 0


def _presence(field: nft.Expression) -> Read | None:
    """Return what reads the field before it is changed: a packet without it ends the rule."""
    match field:
        case nft.Payload():
            return payload_field(field).read
        case nft.TcpOption():
            return tcp_option_field(field).read
        case _:
            return None


def _read(value: Compiled, state: HookState) -> int | Doubt | None:
    found = value.read(state)
    if found is None or isinstance(found, int | Doubt):
        return found
    return None


def _target(field: nft.Expression) -> tuple[str, Callable[[HookState, int], None]]:
    match field:
        case nft.Payload(protocol, name) if (protocol, name) in _PAYLOAD:
            return payload_field(field).datatype, _put(_PAYLOAD[protocol, name])
        case nft.TcpOption():
            return tcp_option_field(field).datatype, set_segment_size
        case nft.Meta("mark"):
            return meta_field(field).datatype, _set_mark
        case nft.Meta("pkttype"):
            return "pkt_type", _set_packet_type
        case nft.Ct("mark"):
            return "mark", _set_connection_mark
        case nft.Ct("zone", direction):
            return "integer", _set_zone(direction)
        case _:
            raise ValueError("a field that is not modeled")


def _put(put: Put) -> Callable[[HookState, int], None]:
    def apply(state: HookState, value: int) -> None:
        state.skb.packet = put(state.skb.packet, value)

    return apply


def _set_mark(state: HookState, value: int) -> None:
    state.skb.mark = value & 0xFFFFFFFF


def _set_packet_type(state: HookState, value: int) -> None:
    types = {PACKET_TYPES[kind]: kind for kind in PacketType}
    state.skb.pkt_type = types.get(value, state.skb.pkt_type)


def _set_connection_mark(state: HookState, value: int) -> None:
    if state.skb.connection is not None:
        state.skb.connection.mark = value & 0xFFFFFFFF


def _set_zone(direction: str) -> Callable[[HookState, int], None]:
    def apply(state: HookState, value: int) -> None:
        # only before conntrack saw the packet (nft_ct_set_zone_eval)
        if is_untouched(state.skb):
            state.skb.ctinfo = CtInfo.NOT_SEEN
            state.skb.template = Template(
                Zone(value & 0xFFFF, direction != "reply", direction != "original")
            )

    return apply
