"""`-j REJECT`: drop, and tell the source (net/ipv4/netfilter/ipt_REJECT.c, nf_reject_ipv4.c
v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.net import protocols
from podpath.net.addresses import Address, Family
from podpath.net.packet import Packet
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct, TrackedPacket
from podpath.xtables.verdicts import Verdict
from podpath.xtables.wording import make_form

TCP_RESET = "tcp-reset"
ANSWERS: Mapping[Family, Mapping[str, tuple[int, int]]] = {
    4: {
        "icmp-net-unreachable": (3, 0), "icmp-host-unreachable": (3, 1),
        "icmp-proto-unreachable": (3, 2), "icmp-port-unreachable": (3, 3),
        "icmp-net-prohibited": (3, 9), "icmp-host-prohibited": (3, 10),
        "icmp-admin-prohibited": (3, 13),
    },
    6: {
        "icmp6-no-route": (1, 0), "icmp6-adm-prohibited": (1, 1), "icmp6-addr-unreachable": (1, 3),
        "icmp6-port-unreachable": (1, 4), "icmp6-policy-fail": (1, 5), "icmp6-reject-route": (1, 6),
    },
}  # fmt: skip
"""ICMP type and code of each answer."""
SHORT: Mapping[str, str] = {
    "net-unreach": "icmp-net-unreachable", "host-unreach": "icmp-host-unreachable",
    "proto-unreach": "icmp-proto-unreachable", "port-unreach": "icmp-port-unreachable",
    "net-prohib": "icmp-net-prohibited", "host-prohib": "icmp-host-prohibited",
    "admin-prohib": "icmp-admin-prohibited", "tcp-rst": TCP_RESET, "no-route": "icmp6-no-route",
    "adm-prohibited": "icmp6-adm-prohibited", "addr-unreach": "icmp6-addr-unreachable",
    "policy-fail": "icmp6-policy-fail", "reject-route": "icmp6-reject-route",
}  # fmt: skip
"""Other names that iptables takes for them."""
DEFAULT: Mapping[Family, str] = {4: "icmp-port-unreachable", 6: "icmp6-port-unreachable"}
TOS_BITS, INTERNET_CONTROL = 0x1E, 0xC0
"""An ICMP error has the TOS of what it is about, with the precedence of network control
(`icmp_send`); one of IPv6 has none (`icmp6_send`).
"""
ICMP_HEADER, IP_HEADER = 8, {4: 20, 6: 40}


def compile_target(target: Target, context: RuleContext) -> TargetAct:
    """Compile the answer; the packet ends whether one is sent or not."""
    family = context.family
    answer = DEFAULT[family]
    for option in target.options:
        if option.name != "reject-with":
            raise ValueError(f"expected --reject-with, saw --{option.name}")
        answer = SHORT.get(single(option), single(option))
    if family == 6 and answer == "icmp-port-unreachable":
        answer = DEFAULT[6]
    if answer != TCP_RESET and answer not in ANSWERS[family]:
        raise ValueError(f"expected an answer of REJECT, saw {answer!r}")

    def reject(state: RuleActions) -> Verdict:
        skb = state.skb
        reply = _reset(skb) if answer == TCP_RESET else _error(skb, ANSWERS[family][answer])
        return state.reject(answer, reply)

    return reject


def _reset(skb: TrackedPacket) -> Packet | None:
    """Make the reset (`nf_send_reset`); None for a fragment, a reset, a bad checksum or a
    broadcast.
    """
    packet = skb.packet
    if (
        packet.protocol != protocols.TCP
        or packet.fragment
        or packet.bad_checksum
        or packet.flags & protocols.RST
    ):
        return None
    if skb.to_many:
        return None
    length = IP_HEADER[packet.family] + 20
    reset = Packet(packet.dst, packet.src, protocols.TCP, packet.dport, packet.sport, length=length)
    if packet.flags & protocols.ACK:
        return reset._replace(flags=protocols.RST, seq=packet.ack)
    behind = (
        packet.seq + packet.payload + (1 if packet.flags & (protocols.SYN | protocols.FIN) else 0)
    )
    return reset._replace(flags=protocols.RST | protocols.ACK, ack=behind)


def _error(skb: TrackedPacket, kind: tuple[int, int]) -> Packet | None:
    """Make the ICMP error (`nf_send_unreach`, `icmp_send`); None where an error may not be answered
    with one.
    """
    packet = skb.packet
    if (
        packet.fragment
        or packet.bad_checksum
        or packet.dst.is_multicast
        or skb.to_many
        or _is_error(packet)
    ):
        return None
    if skb.by_kernel and skb.iif is None and _holds_socket(skb.innermost):
        return None
    family = packet.family
    protocol = protocols.ICMP if family == 4 else protocols.ICMPV6
    length = min(IP_HEADER[family] + ICMP_HEADER + packet.length, 576 if family == 4 else 1280)
    return Packet(
        Address(family, 0),
        packet.src,
        protocol,
        tos=packet.tos & TOS_BITS | INTERNET_CONTROL if family == 4 else 0,
        icmp_type=kind[0],
        icmp_code=kind[1],
        length=length,
        quoted=packet,
        dont_fragment=False,
    )


_DISCOVERY = range(130, 138)
"""Types of ICMPv6 that a socket of their own sends (`net/ipv6/ndisc.c:ndisc_send_skb v6.12`)."""


def _holds_socket(packet: Packet) -> bool:
    """Tell whether a message on its way out, in tunnels or not, holds the socket that an error
    would be sent by: `icmp_xmit_lock`.
    """
    return packet.protocol == protocols.ICMP or (
        packet.protocol == protocols.ICMPV6 and packet.icmp_type not in _DISCOVERY
    )


def _is_error(packet: Packet) -> bool:
    if packet.protocol == protocols.ICMP:
        return packet.icmp_type in {3, 4, 5, 11, 12}
    return packet.protocol == protocols.ICMPV6 and packet.icmp_type < 128


TARGET = TargetExtension(
    name="REJECT",
    options=make_options("reject-with"),
    forms=(make_form("REJECT", r"reject-with (?P<reject_with>\S+)"),),
    tables=frozenset({"filter"}),
    hooks=frozenset({"INPUT", "FORWARD", "OUTPUT"}),
    compiler=compile_target,
)
