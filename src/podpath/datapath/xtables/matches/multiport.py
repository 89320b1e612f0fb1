"""`-m multiport`: up to 15 ports or ranges (net/netfilter/xt_multiport.c:ports_match_v1 v6.12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, words
from podpath.net import protocols
from podpath.net.addresses import PortRange
from podpath.net.packet import Packet
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_ports

PROTOCOLS = frozenset({protocols.TCP, protocols.UDP, protocols.UDPLITE, protocols.SCTP, 33})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _ports_option(ports_of: Callable[[Packet], tuple[int, ...]]) -> OptionCompiler:
    def compile_ports(option: MatchOption, _: RuleContext) -> Check:
        ranges: tuple[PortRange, ...] = tuple(parse_ports(word) for word in words(option))
        if not ranges:
            raise ValueError("expected ports, saw none")
        wanted = not option.negated

        def check_ports(state: HookState) -> bool:
            packet = state.skb.packet
            if packet.fragment or packet.protocol not in PROTOCOLS:
                return False
            ports = ports_of(packet)
            return any(first <= port <= last for port in ports for first, last in ranges) is wanted

        return check_ports

    return compile_ports


_SOURCE = _ports_option(lambda packet: (packet.sport,))
_DESTINATION = _ports_option(lambda packet: (packet.dport,))
_EITHER = _ports_option(lambda packet: (packet.sport, packet.dport))

OPTIONS: Mapping[str, OptionCompiler] = {
    "sports": _SOURCE,
    "source-ports": _SOURCE,
    "dports": _DESTINATION,
    "destination-ports": _DESTINATION,
    "ports": _EITHER,
}
