"""What `ct` actions get from the kernel's connection tracking (net/openvswitch/conntrack.c v6.12).

A bridge tracks in zones of the host's own table. A connection is entered by `ct(commit)` alone; one
that nothing commits is new each time.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.conntrack import icmp, tcp
from podpath.datapath.conntrack.connection import Connection, Zone
from podpath.datapath.conntrack.settings import ConntrackSettings
from podpath.datapath.conntrack.table import ConntrackTable
from podpath.datapath.conntrack.tuples import (
    ICMPS,
    inverse,
    inverse_kind,
    packet_key,
    packet_kind,
    packet_tuple,
)
from podpath.datapath.nat.binding import set_up
from podpath.datapath.nat.rewriting import is_translated, rewrite
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.tracking import conntrack_table
from podpath.datapath.openflow.fields import CT_STATES, IPV4, IPV6, State
from podpath.datapath.openflow.pipeline import Tracking
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.xtables.nat_ranges import parse_nat_range

NEW, EST, RPL = CT_STATES["new"], CT_STATES["est"], CT_STATES["rpl"]
INV, TRK = CT_STATES["inv"], CT_STATES["trk"]
NATS = {True: CT_STATES["snat"], False: CT_STATES["dnat"]}
"""By whether the source is translated."""
FRAME_HEADER = 14


def state_of(packet: Packet, mark: int) -> State:
    """Return a packet as flows see it; a MAC that no output shows is not known."""
    family, icmps = packet.family, packet.protocol in ICMPS
    state: State = {
        "eth_type": IPV4 if family == 4 else IPV6,
        "ip_proto": packet.protocol,
        "ttl": packet.ttl,
        "tos": packet.tos,
        "ip_frag": 3 if packet.fragment else 0,
        "tp_src": packet.icmp_type if icmps else packet.sport,
        "tp_dst": packet.icmp_code if icmps else packet.dport,
        "tcp_flags": packet.flags,
        "vlan_tci": 0,
        "pkt_mark": mark,
        "length": packet.length + FRAME_HEADER,
    }
    state |= dict.fromkeys(("tun_id", "tun_src", "tun_dst", "tun_flags"), 0)
    prefix = "ip" if family == 4 else "ipv6"
    state |= {f"{prefix}_src": packet.src.value, f"{prefix}_dst": packet.dst.value}
    for slot, mac in (("eth_src", packet.smac), ("eth_dst", packet.dmac)):
        digits = (mac or "").replace(":", "")
        if len(digits) == 12 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
            state[slot] = int(digits, 16)
    return state


def packet_of(packet: Packet, state: State) -> Packet:
    """Return the packet as flows have changed it."""
    prefix = "ip" if packet.family == 4 else "ipv6"
    macs = [_spell(state[slot]) if slot in state else None for slot in ("eth_src", "eth_dst")]
    packet = with_macs(packet, macs[0] or packet.smac, macs[1] or packet.dmac)
    packet = packet._replace(
        src=Address(packet.family, state[f"{prefix}_src"]),
        dst=Address(packet.family, state[f"{prefix}_dst"]),
        ttl=state["ttl"],
        tos=state["tos"],
    )
    if packet.protocol in ICMPS:
        return packet
    return packet._replace(sport=state["tp_src"], dport=state["tp_dst"])


def _spell(value: int) -> Mac:
    digits = f"{value:012x}"
    return Mac(":".join(digits[place : place + 2] for place in range(0, 12, 2)))


class KernelTracker:
    """Connection tracking of the host, in one branch of a walk."""

    def __init__(self, walk: Walk, skb: Skb) -> None:
        """Track copies of a packet, whose headers flows may have changed."""
        self._walk = walk
        self._skb = skb
        self._packet = skb.packet
        self._last: dict[int, tuple[Connection, bool]] = {}

    def track(self, state: State, asked: Tracking) -> State | str:
        """Find or make the packet's connection in a zone, and translate the packet."""
        packet = packet_of(self._packet, state)
        if packet.protocol in ICMPS and icmp.is_special(packet):
            return "connection tracking of an ICMP error"
        if asked.helper:
            return f"connection tracking with the helper {asked.helper}"
        table = conntrack_table(self._walk, self._skb.netns)
        after = {**state, "ct_zone": asked.zone, "ct_mark": 0, "ct_label": 0}
        # What hangs on the packet already is not looked up again (`skb_nfct_cached`).
        known = self._last.get(asked.zone)
        found = known if known is not None else self._find(table, packet, asked)
        if found is not None:
            self._last = {asked.zone: found}
        if found is None:
            return {**after, "ct_state": INV | TRK}
        connection, reply = found
        bits = TRK | (RPL if reply else 0)
        bits |= EST if reply or connection.seen_reply else NEW
        if reply:
            connection.seen_reply = True
        if asked.commit and not connection.confirmed:
            if asked.nat and not self._bind(connection, asked.nat):
                return f"nat({asked.nat})"
            table.insert(connection)
        if asked.nat is not None and connection.confirmed:
            for source in (True, False):
                if is_translated(connection, reply=reply, source=source):
                    packet = rewrite(packet, connection, reply=reply, source=source)
                    bits |= NATS[source]
        self._mark(connection, after, asked)
        tracked = {**after, **state_of(packet, after.get("pkt_mark", 0)), "ct_state": bits}
        kept = {slot: after[slot] for slot in ("vlan_tci", "tun_id", "tun_src", "tun_dst")}
        return {**tracked, **kept, **dict(_original(connection))}

    def _find(
        self, table: ConntrackTable, packet: Packet, asked: Tracking
    ) -> tuple[Connection, bool] | None:
        """Return the connection with the packet's direction in it; None for an invalid packet."""
        zone = Zone(asked.zone)
        settings = ConntrackSettings(self._walk.choices, self._skb.netns)
        found = table.find(packet_key(packet, zone.id), zone)
        if found is not None and found[1] and asked.force and asked.commit:
            table.delete(found[0])
            found = None
        if packet.protocol == protocols.TCP and tcp.check_flags(packet).invalid is not None:
            return None
        connection, reply = found or (_open(packet, zone), False)
        if connection is None or packet.protocol != protocols.TCP:
            return None if connection is None else (connection, reply)
        if not connection.confirmed and not tcp.open_connection(connection, packet, settings).valid:
            return None
        ruling = tcp.track_segment(connection, packet, settings, reply=reply)
        if ruling.repeat:
            table.delete(connection)
            return self._find(table, packet, asked)
        if ruling.invalid is not None:
            return None
        return (connection, reply)

    def _bind(self, connection: Connection, text: str) -> bool:
        """Give a new connection the translation that `nat(...)` asks for; false where it cannot be
        read.
        """
        words = text.split(",")
        side, _, target = words[0].partition("=")
        if side not in {"src", "dst"} or {"random", "hash"} & set(words[1:]):
            return False
        try:
            allowed = parse_nat_range(target, connection.original.src.family)
        except ValueError:
            return False
        state = HookState(self._walk, self._skb, Hook.PREROUTING)
        set_up(state, connection, allowed, source=side == "src")
        return True

    def _mark(self, connection: Connection, after: State, asked: Tracking) -> None:
        """Give the packet the connection's mark and label, and the connection those that the action
        sets.
        """
        labels = self._walk.learned.labels
        after["ct_mark"] = connection.mark
        if connection.span is not None and connection not in labels:
            after.pop("ct_label")
        else:
            after["ct_label"] = labels.get(connection, 0)
        if asked.commit:
            for bits, value in asked.marks:
                bits.write(after, value)
            connection.mark = after["ct_mark"]
            if "ct_label" in after:
                labels[connection] = after["ct_label"]


def _open(packet: Packet, zone: Zone) -> Connection | None:
    kind = packet_kind(packet)
    original = packet_tuple(packet)
    answer = inverse_kind(original.protocol, kind)
    if answer is None or (original.protocol in ICMPS and not icmp.is_opener(packet)):
        return None
    return Connection(original, inverse(original), kind=kind, reply_kind=answer, zone=zone)


def _original(connection: Connection) -> Iterator[tuple[str, int]]:
    """Yield the tuple of the connection's first packet, as `ct_nw_src` and the like have it."""
    first = connection.original
    prefix = "ct_nw" if first.src.family == 4 else "ct_ipv6"
    yield f"{prefix}_src", first.src.value
    yield f"{prefix}_dst", first.dst.value
    yield "ct_nw_proto", first.protocol
    yield "ct_tp_src", first.sport
    yield "ct_tp_dst", first.dport
