"""`-j MASQUERADE`: the address of the outgoing device as source (net/netfilter/nf_nat_masquerade.c
v6.12).

The address is `inet_select_addr` of the device toward the next hop: a route's preferred source
plays no part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.nat.binding import bind_source
from podpath.datapath.nat.ranges import NULL, parse_port_range
from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Verdict
from podpath.datapath.reasons.translation import NoAddressToMasquerade
from podpath.datapath.routing import select_source
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

RANDOM = frozenset({"random", "random-fully"})
KNOWN = RANDOM | {"to-ports"}


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the options to a range of ports; the address is found when a packet leaves."""
    options = {option.name: option for option in target.options}
    if not options.keys() <= KNOWN:
        raise ValueError(f"expected options of MASQUERADE, saw {sorted(options)}")
    ports = parse_port_range(single(options["to-ports"])) if "to-ports" in options else NULL
    ports = ports._replace(random=bool(RANDOM & options.keys()))

    def masquerade(state: HookState, compiled: CompiledRule) -> Verdict:
        skb = state.skb
        connection = skb.connection
        if connection is None or connection.original.src.is_unspecified or skb.oif is None:
            return ACCEPT
        destination = skb.destination
        nexthop = destination.gateway if destination is not None else None
        if nexthop is None or nexthop.family != skb.packet.family:
            nexthop = (
                skb.packet.dst
            )  # an IPv4 route by an IPv6 gateway (include/net/route.h:rt_nexthop v6.12)
        source = select_source(state.walk, skb.netns, skb.oif, nexthop)
        if source is None:
            rule = compiled.rule
            state.decision = Decision(
                StepDecision.DROP, NoAddressToMasquerade(rule, state.out_name), rule.span
            )
            return DROP
        connection.masquerade_link = state.out_name
        return bind_source(
            state, compiled.rule, ports._replace(low=source.value, high=source.value)
        )

    return masquerade
