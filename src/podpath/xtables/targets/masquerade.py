"""`-j MASQUERADE`: the address of the outgoing device as source (net/netfilter/nf_nat_masquerade.c
v6.12).

The address is `inet_select_addr` of the device toward the next hop: a route's preferred source
plays no part in it.
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import NftStatement, TargetExtension, make_options
from podpath.xtables.nat_ranges import NULL, NatRange, parse_port_range
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.verdicts import ACCEPT, Verdict
from podpath.xtables.wording import NAT_FLAGS, make_form

RANDOM = frozenset({"random", "random-fully"})


def compile_target(target: Target, context: RuleContext) -> TargetAct:
    """Compile the options to a range of ports; the address is found when a packet leaves."""
    options = {option.name: option for option in target.options}
    if not options.keys() <= RANDOM | {"to-ports"}:
        raise ValueError(f"expected options of MASQUERADE, saw {sorted(options)}")
    ports = parse_port_range(single(options["to-ports"])) if "to-ports" in options else NULL
    return masquerade(ports._replace(random=bool(RANDOM & options.keys())), context)


def masquerade(ports: NatRange, _: RuleContext) -> TargetAct:
    """Return what takes the outgoing device's address, and a port of the range."""

    def act(state: RuleActions) -> Verdict:
        connection = state.skb.connection
        if connection is None or connection.original.src.is_unspecified or state.skb.oif is None:
            return ACCEPT
        packet, nexthop = state.skb.packet, state.next_hop
        if nexthop is None or packet.family == 6 or nexthop.family == 6:
            # IPv6 asks by the destination, and so does an IPv4 route by an IPv6 gateway
            # (nf_nat_masquerade_ipv6, include/net/route.h:rt_nexthop v6.12)
            nexthop = packet.dst
        source = state.select_source(nexthop)
        if source is None:
            return state.lack_source()
        connection.masquerade_link = state.out_name
        return state.bind_source(ports._replace(low=source.value, high=source.value))

    return act


TARGET = TargetExtension(
    name="MASQUERADE",
    options=make_options("to-ports", flags=RANDOM),
    forms=(
        make_form("MASQUERADE", r"masq ports: (?P<to_ports>\S+)", *NAT_FLAGS[:2]),
        make_form("MASQUERADE", r"(?P<flag_random_fully>random-fully)"),
        make_form("MASQUERADE", r"(?P<flag_random>random)", NAT_FLAGS[1]),
    ),
    bare=True,
    tables=frozenset({"nat"}),
    hooks=frozenset({"POSTROUTING"}),
    compiler=compile_target,
    tracks=True,
    nft=NftStatement("masquerade", masquerade),
)
