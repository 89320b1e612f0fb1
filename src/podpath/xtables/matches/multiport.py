"""`-m multiport`: up to 15 ports or ranges (net/netfilter/xt_multiport.c:ports_match_v1 v6.12)."""

from __future__ import annotations

from collections.abc import Callable

from podpath.net import protocols
from podpath.net.addresses import PortRange
from podpath.net.packet import Packet
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, words
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.values import parse_ports
from podpath.xtables.wording import make_form

PROTOCOLS = frozenset(
    {protocols.TCP, protocols.UDP, protocols.UDPLITE, protocols.SCTP, protocols.DCCP}
)


def _ports_option(ports_of: Callable[[Packet], tuple[int, ...]]) -> OptionMeaning:
    def compile_ports(option: MatchOption, _: RuleContext) -> Check:
        ranges: tuple[PortRange, ...] = tuple(parse_ports(word) for word in words(option))
        if not ranges:
            raise ValueError("expected ports, saw none")
        wanted = not option.negated

        def check_ports(state: Surroundings) -> bool:
            packet = state.skb.packet
            if packet.fragment or packet.protocol not in PROTOCOLS:
                return False
            ports = ports_of(packet)
            return any(first <= port <= last for port in ports for first, last in ranges) is wanted

        return check_ports

    return OptionMeaning(check=compile_ports, ports=True)


_SOURCE = _ports_option(lambda packet: (packet.sport,))
_DESTINATION = _ports_option(lambda packet: (packet.dport,))
_EITHER = _ports_option(lambda packet: (packet.sport, packet.dport))

MATCH = MatchExtension(
    name="multiport",
    options={
        "sports": _SOURCE,
        "source-ports": _SOURCE,
        "dports": _DESTINATION,
        "destination-ports": _DESTINATION,
        "ports": _EITHER,
    },
    forms=tuple(
        make_form("multiport", rf"multiport {kind} (?P<no_{kind}>!)?(?P<{kind}>\S+)")
        for kind in ("sports", "dports", "ports")
    ),
)
