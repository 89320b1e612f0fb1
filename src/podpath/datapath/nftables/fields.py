"""What a rule can look at: header fields, meta data, conntrack, routing
(net/netfilter/nft_payload.c, nft_meta.c, nft_ct.c, net/ipv4/netfilter/nft_fib_ipv4.c v6.12).

A field gives a number (a device name: text), `None` where the packet has no such field, which ends
the rule (NFT_BREAK), or a `Doubt` where what it looks at is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.netfilter.state import Doubt, HookState
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.nftables.datatypes import (
    ADDRESS_TYPES,
    CT_STATES,
    FULL,
    PACKET_TYPES,
    Device,
    Part,
)
from podpath.datapath.routing import address_type, address_type6, is_of_link, reverse_path
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.skb import attached
from podpath.net import nft, protocols
from podpath.net.packet import Packet
from podpath.node.links import Link
from podpath.node.netfilter import ConnTuple
from podpath.xtables.matches.conntrack import packet_state

Value = Part | tuple[Part, ...] | Doubt | None
Read = Callable[[HookState], Value]
NO_DEVICE = Device("", 0)


class Field(NamedTuple):
    """A field and its datatype."""

    datatype: str
    read: Read


TRANSPORTS: Mapping[str, int] = {
    "tcp": protocols.TCP, "udp": protocols.UDP, "sctp": protocols.SCTP,
    "udplite": protocols.UDPLITE, "dccp": 33, "icmp": protocols.ICMP, "icmpv6": protocols.ICMPV6,
}  # fmt: skip
PORTED = frozenset({protocols.TCP, protocols.UDP, protocols.SCTP, protocols.UDPLITE, 33})

_IP4: Mapping[str, tuple[str, Callable[[Packet], int]]] = {
    "saddr": ("ipv4_addr", lambda packet: packet.src.value),
    "daddr": ("ipv4_addr", lambda packet: packet.dst.value),
    "protocol": ("inet_proto", lambda packet: packet.protocol),
    "ttl": ("integer", lambda packet: packet.ttl),
    "length": ("integer", lambda packet: packet.length),
    "dscp": ("dscp", lambda packet: packet.tos >> 2),
    "ecn": ("integer", lambda packet: packet.tos & 3), "version": ("integer", lambda _: 4),
    "frag-off": (
        "integer",
        lambda packet: (0x4000 if packet.dont_fragment else 0) | (1 if packet.fragment else 0),
    ),
}  # fmt: skip
_IP6: Mapping[str, tuple[str, Callable[[Packet], int]]] = {
    "saddr": ("ipv6_addr", lambda packet: packet.src.value),
    "daddr": ("ipv6_addr", lambda packet: packet.dst.value),
    "nexthdr": ("inet_proto", lambda packet: packet.protocol),
    "hoplimit": ("integer", lambda packet: packet.ttl),
    "length": ("integer", lambda packet: packet.length - 40),
    "dscp": ("dscp", lambda packet: packet.tos >> 2),
    "ecn": ("integer", lambda packet: packet.tos & 3), "version": ("integer", lambda _: 6),
}  # fmt: skip
_PORTS: Mapping[str, tuple[str, Callable[[Packet], int]]] = {
    "sport": ("inet_service", lambda packet: packet.sport),
    "dport": ("inet_service", lambda packet: packet.dport),
}  # fmt: skip
_TRANSPORT: Mapping[str, Mapping[str, tuple[str, Callable[[Packet], int]]]] = {
    **dict.fromkeys(("udp", "sctp", "udplite", "dccp", "th"), _PORTS),
    "tcp": {**_PORTS, "flags": ("tcp_flag", lambda packet: packet.flags)},
    "icmp": {
        "type": ("icmp_type", lambda packet: packet.icmp_type),
        "code": ("icmp_code", lambda packet: packet.icmp_code),
        "id": ("integer", lambda packet: packet.sport),
    },
    "icmpv6": {
        "type": ("icmpv6_type", lambda packet: packet.icmp_type),
        "code": ("icmpv6_code", lambda packet: packet.icmp_code),
        "id": ("integer", lambda packet: packet.sport),
    },
}  # fmt: skip


def payload_field(field: nft.Payload) -> Field:
    """Return a header field; `ValueError` where it is not modeled."""
    if field.protocol in {"ip", "ip6"}:
        found = (_IP4 if field.protocol == "ip" else _IP6).get(field.field)
        if found is None:
            raise ValueError(f"expected a field of the {field.protocol} header")
        return Field(found[0], _network_reader(4 if field.protocol == "ip" else 6, found[1]))
    if field.protocol == "ether":
        return _ether_field(field.field)
    found = _TRANSPORT.get(field.protocol, {}).get(field.field)
    if found is None:
        raise ValueError(f"expected a header field, saw {field.protocol} {field.field}")
    if field.protocol == "th":
        return Field(found[0], _read_first_words(field.field, found[1]))
    return Field(found[0], _transport_reader(TRANSPORTS[field.protocol], found[1]))


def _network_reader(family: int, select: Callable[[Packet], int]) -> Read:
    return lambda state: select(state.skb.packet) if state.skb.packet.family == family else None


def _transport_reader(protocol: int, select: Callable[[Packet], int]) -> Read:
    """Read a transport header; what has none of that protocol, and a later fragment, ends the rule
    (nft_payload_eval).
    """

    def read(state: HookState) -> Value:
        packet = state.skb.packet
        if packet.fragment or packet.protocol != protocol:
            return None
        return select(packet)

    return read


def _read_first_words(name: str, select: Callable[[Packet], int]) -> Read:
    """Read `th sport` or `th dport`: the first bytes behind the IP header, whatever the protocol
    has there.
    """
    doubt = Doubt(
        f"the bytes where a {name} would stand are those that the rule asks for",
        likely=False,
        ask="tcpdump -X",
    )

    def read(state: HookState) -> Value:
        packet = state.skb.packet
        if packet.fragment:
            return None
        if packet.protocol in PORTED:
            return select(packet)
        is_icmp = packet.protocol in {protocols.ICMP, protocols.ICMPV6}
        # behind an ICMP message's type and code stands its checksum
        if is_icmp and name == "sport":
            return packet.icmp_type << 8 | packet.icmp_code
        return doubt

    return read


def _ether_field(name: str) -> Field:
    if name == "type":
        return Field("ether_type", lambda state: 0x0800 if state.skb.packet.family == 4 else 0x86DD)
    if name not in {"saddr", "daddr"}:
        raise ValueError(f"expected a field of the Ethernet header, saw {name}")

    def read(state: HookState) -> Value:
        skb = state.skb
        mac = skb.packet.smac if name == "saddr" else skb.packet.dmac
        # a packet of this host has no link-layer header yet, nor an input device of type ether
        if mac is None or (skb.iif is None and state.hook not in {Hook.INGRESS, Hook.EGRESS}):
            return None
        try:
            return int(mac.replace(":", ""), 16)
        except ValueError:
            return Doubt(
                f"the frame's ether {name} is the one that the rule asks for",
                likely=False,
                ask="tcpdump -e",
            )

    return Field("ether_addr", read)


def _read_index(select: Callable[[HookState], Link | None]) -> Read:
    """Read a device's index; rules written with a name hold the index that the device had then
    (nft_meta_get_eval).
    """

    def read(state: HookState) -> Value:
        link = select(state)
        if link is None:
            return NO_DEVICE
        return Device(link.name, link.ifindex or FULL)

    return read


def _read_user(state: HookState) -> Value:
    if state.skb.iif is not None or state.skb.physin is not None:
        return None
    if state.skb.uid is None:
        return Doubt(
            "the sender runs as the user that the rule names",
            likely=False,
            ask="ps -eo pid,user,group,comm",
        )
    return state.skb.uid


def _read_group(state: HookState) -> Value:
    if state.skb.iif is not None or state.skb.physin is not None:
        return None
    return Doubt(
        "the sender runs as the group that the rule names",
        likely=False,
        ask="ps -eo pid,user,group,comm",
    )


_META: Mapping[str, Field] = {
    "mark": Field("mark", lambda state: state.skb.mark),
    "l4proto": Field("inet_proto", lambda state: state.skb.packet.protocol),
    "nfproto": Field("nf_proto", lambda state: 2 if state.skb.packet.family == 4 else 10),
    "protocol": Field(
        "ether_type", lambda state: 0x0800 if state.skb.packet.family == 4 else 0x86DD
    ),
    "length": Field("integer", lambda state: state.skb.packet.length),
    "pkttype": Field("pkt_type", lambda state: PACKET_TYPES.get(state.skb.pkt_type, 0)),
    "iifname": Field("ifname", lambda state: state.in_name),
    "oifname": Field("ifname", lambda state: state.out_name),
    "iif": Field("iface_index", _read_index(lambda state: state.skb.iif)),
    "oif": Field("iface_index", _read_index(lambda state: state.skb.oif)),
    "skuid": Field("uid", _read_user),
    "skgid": Field("gid", _read_group),
}


def meta_field(field: nft.Meta) -> Field:
    """Return a piece of meta data; `ValueError` where it is not modeled."""
    found = _META.get(field.key)
    if found is None:
        raise ValueError(f"expected a key of meta that is modeled, saw {field.key}")
    return found


def _read_state(state: HookState) -> Value:
    return CT_STATES.get(packet_state(state.skb).lower(), 1)


def _status(connection: Connection) -> int:
    flags = (
        connection.expected,
        connection.seen_reply,
        connection.assured,
        connection.confirmed,
        connection.src_nat,
        connection.dst_nat,
    )
    return sum(1 << place for place, is_on in enumerate(flags) if is_on)


def _of_connection(select: Callable[[HookState, Connection], int]) -> Read:
    def read(state: HookState) -> Value:
        connection = attached(state.skb)
        if connection is None:
            return None
        return select(state, connection)

    return read


_CT: Mapping[str, Field] = {
    "state": Field("ct_state", _read_state),
    "status": Field("ct_status", _of_connection(lambda _, connection: _status(connection))),
    "mark": Field("mark", _of_connection(lambda _, connection: connection.mark)),
    "direction": Field("ct_dir", _of_connection(lambda state, _: int(state.skb.reply))),
    "protocol": Field(
        "inet_proto", _of_connection(lambda _, connection: connection.original.protocol)
    ),
    "l3proto": Field(
        "nf_proto",
        _of_connection(lambda _, connection: 2 if connection.original.src.family == 4 else 10),
    ),
    "zone": Field("integer", _of_connection(lambda _, connection: connection.zone.id)),
}
_CT_TUPLE: Mapping[str, tuple[str, Callable[[ConnTuple], int]]] = {
    "ip saddr": ("ipv4_addr", lambda entry: entry.src.value),
    "ip daddr": ("ipv4_addr", lambda entry: entry.dst.value),
    "ip6 saddr": ("ipv6_addr", lambda entry: entry.src.value),
    "ip6 daddr": ("ipv6_addr", lambda entry: entry.dst.value),
    "proto-src": ("inet_service", lambda entry: entry.sport),
    "proto-dst": ("inet_service", lambda entry: entry.dport),
    "protocol": ("inet_proto", lambda entry: entry.protocol),
}  # fmt: skip


def ct_field(field: nft.Ct) -> Field:
    """Return what conntrack knows of the packet; `ValueError` where it is not modeled."""
    if field.direction and field.key in _CT_TUPLE:
        datatype, select = _CT_TUPLE[field.key]
        if field.direction == "original":
            return Field(
                datatype, _of_connection(lambda _, connection: select(connection.original))
            )
        return Field(datatype, _of_connection(lambda _, connection: select(connection.reply)))
    found = _CT.get(field.key)
    if found is None:
        raise ValueError(f"expected a key of ct that is modeled, saw {field.key}")
    return found


def fib_field(field: nft.Fib) -> Field:
    """Return a look into the routing tables; `ValueError` for one that is not modeled."""
    flags = frozenset(field.flags)
    if field.result == "type" and flags <= {"saddr", "daddr", "iif", "oif", "mark"}:
        return Field("fib_addrtype", _read_address_type(flags))
    if field.result in {"oif", "oifname"} and {"saddr", "iif"} <= flags <= {"saddr", "iif", "mark"}:
        datatype = "iface_index" if field.result == "oif" else "ifname"
        return Field(
            datatype, _read_way_back(with_mark="mark" in flags, by_name=field.result == "oifname")
        )
    raise ValueError(
        f"expected a fib lookup that is modeled, saw {' . '.join(field.flags)} {field.result}"
    )


def _read_address_type(flags: frozenset[str]) -> Read:
    def read(state: HookState) -> Value:
        skb = state.skb
        address = skb.packet.src if "saddr" in flags else skb.packet.dst
        link = None
        if "oif" in flags:
            link = skb.oif
        elif "iif" in flags:
            link = skb.iif
        if address.family == 4:
            kind = address_type(state.walk, skb.netns, address, link)
        else:
            other = skb.packet.dst if "saddr" in flags else skb.packet.src
            device = link or skb.iif or skb.oif
            flow = FlowKey(
                address,
                other,
                # A link-local address is looked for on a device (nft_fib6_flowi_init).
                oif=device.name if device is not None and is_of_link(address) else None,
                mark=skb.mark if "mark" in flags else 0,
                tos=skb.packet.tos,
                protocol=skb.packet.protocol,
            )
            kind = address_type6(state.walk, skb.netns, flow, link)
        return ADDRESS_TYPES.get(kind, 0)

    return read


def _read_way_back(*, with_mark: bool, by_name: bool) -> Read:
    """Read the device of the way back to the source: that which the packet came in on, or none
    (nft_fib4_eval).
    """

    def read(state: HookState) -> Value:
        skb = state.skb
        found = skb.iif if skb.iif is not None and skb.iif.name == "lo" else None
        mark, protocol = skb.mark if with_mark else 0, skb.packet.protocol
        if found is None and reverse_path(
            state.walk, skb, mark=mark, loose=False, accept_local=False, protocol=protocol
        ):
            found = skb.iif
        if by_name:
            return found.name if found is not None else ""
        if found is None:
            return NO_DEVICE
        return Device(found.name, found.ifindex or FULL)

    return read
