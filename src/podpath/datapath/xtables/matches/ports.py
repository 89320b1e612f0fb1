"""`--sport` and `--dport` as the tcp, udp, sctp and dccp matches share them (net/netfilter/xt_tcpudp.c v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, parse_ports, single
from podpath.node.netfilter import MatchOption


def compile_source_port(option: MatchOption, _: RuleContext) -> Check:
    """Match the source port; a fragment other than the first has none and never matches (`tcp_mt`, `udp_mt`)."""
    first, last = parse_ports(single(option))
    wanted = not option.negated

    def check_source_port(state: HookState) -> bool:
        packet = state.skb.packet
        return not packet.fragment and (first <= packet.sport <= last) is wanted

    return check_source_port


def compile_destination_port(option: MatchOption, _: RuleContext) -> Check:
    """Match the destination port; a fragment other than the first has none and never matches (`tcp_mt`, `udp_mt`)."""
    first, last = parse_ports(single(option))
    wanted = not option.negated

    def check_destination_port(state: HookState) -> bool:
        packet = state.skb.packet
        return not packet.fragment and (first <= packet.dport <= last) is wanted

    return check_destination_port


PORT_OPTIONS: Mapping[str, OptionCompiler] = {
    "sport": compile_source_port,
    "source-port": compile_source_port,
    "dport": compile_destination_port,
    "destination-port": compile_destination_port,
}
