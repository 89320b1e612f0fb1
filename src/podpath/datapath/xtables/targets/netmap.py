"""`-j NETMAP`: one network mapped onto another, host by host (net/netfilter/xt_NETMAP.c v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.nat.binding import bind_destination, bind_source
from podpath.datapath.nat.ranges import NULL
from podpath.datapath.netfilter.state import Act, HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.vocabulary import Hook
from podpath.datapath.xtables.context import RuleContext, single
from podpath.net.addresses import WIDTH, Prefix
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile the network; which address it maps depends on the hook."""
    if [option.name for option in target.options] != ["to"]:
        raise ValueError("expected --to")
    prefix = Prefix.parse(single(target.options[0]), context.family)
    host_bits = (1 << (WIDTH[context.family] - prefix.length)) - 1

    def map_network(state: HookState, compiled: CompiledRule) -> Verdict:
        packet = state.skb.packet
        if state.hook in {Hook.PREROUTING, Hook.OUTPUT}:
            address = prefix.network | packet.dst.value & host_bits
            return bind_destination(state, compiled.rule, NULL._replace(low=address, high=address))
        address = prefix.network | packet.src.value & host_bits
        return bind_source(state, compiled.rule, NULL._replace(low=address, high=address))

    return map_network
