"""`-j DNAT`, `-j SNAT` and `-j NETMAP`: a new destination, a new source, or one network mapped onto
another host by host (net/netfilter/xt_nat.c, xt_NETMAP.c v6.12).
"""

from __future__ import annotations

from podpath.net.addresses import WIDTH, Prefix
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import NftStatement, TargetExtension, make_options
from podpath.xtables.nat_ranges import NULL, NatRange, parse_nat_range
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.verdicts import Verdict
from podpath.xtables.wording import NAT_FLAGS, make_form

NAT = frozenset({"nat"})
RANDOM = frozenset({"random", "random-fully"})
FLAGS = RANDOM | {"persistent"}


def rewrite_destination(allowed: NatRange, _: RuleContext) -> TargetAct:
    """Return what gives a connection a destination in the range."""
    return lambda state: state.bind_destination(allowed)


def rewrite_source(allowed: NatRange, _: RuleContext) -> TargetAct:
    """Return what gives a connection a source in the range."""
    return lambda state: state.bind_source(allowed)


def compile_dnat(target: Target, context: RuleContext) -> TargetAct:
    """Compile the options to one range."""
    return rewrite_destination(_read_range(target, "to-destination", context), context)


def compile_snat(target: Target, context: RuleContext) -> TargetAct:
    """Compile the options to one range."""
    return rewrite_source(_read_range(target, "to-source", context), context)


def _read_range(target: Target, name: str, context: RuleContext) -> NatRange:
    options = {option.name: option for option in target.options}
    if name not in options or not options.keys() <= {name, *FLAGS}:
        raise ValueError(f"expected --{name}, saw {sorted(options)}")
    allowed = parse_nat_range(single(options[name]), context.family)
    if len(options) == 1:
        return allowed
    return allowed._replace(
        random=not RANDOM.isdisjoint(options), persistent="persistent" in options
    )


def compile_netmap(target: Target, context: RuleContext) -> TargetAct:
    """Compile the network; which address it maps depends on the hook."""
    if [option.name for option in target.options] != ["to"]:
        raise ValueError("expected --to")
    prefix = Prefix.parse(single(target.options[0]), context.family)
    host_bits = (1 << (WIDTH[context.family] - prefix.length)) - 1

    def map_network(state: RuleActions) -> Verdict:
        packet = state.skb.packet
        if state.hook in {"PREROUTING", "OUTPUT"}:
            address = prefix.network | packet.dst.value & host_bits
            return state.bind_destination(NULL._replace(low=address, high=address))
        address = prefix.network | packet.src.value & host_bits
        return state.bind_source(NULL._replace(low=address, high=address))

    return map_network


DNAT = TargetExtension(
    name="DNAT",
    options=make_options("to-destination", flags=FLAGS),
    forms=(make_form("DNAT", r"to:(?P<to_destination>\S+)", *NAT_FLAGS),),
    bare=True,
    tables=NAT,
    hooks=frozenset({"PREROUTING", "OUTPUT"}),
    compiler=compile_dnat,
    tracks=True,
    nft=NftStatement("dnat", rewrite_destination),
)
SNAT = TargetExtension(
    name="SNAT",
    options=make_options("to-source", flags=FLAGS),
    forms=(make_form("SNAT", r"to:(?P<to_source>\S+)", *NAT_FLAGS),),
    bare=True,
    tables=NAT,
    hooks=frozenset({"POSTROUTING", "INPUT"}),
    compiler=compile_snat,
    tracks=True,
    nft=NftStatement("snat", rewrite_source),
)
NETMAP = TargetExtension(
    name="NETMAP",
    options=make_options("to"),
    forms=(
        make_form("NETMAP", r"to:(?P<to>\S+)"),
        make_form("NETMAP", r"(?P<to>[\d.:a-f]+/\S+)"),
    ),
    tables=NAT,
    compiler=compile_netmap,
    tracks=True,
)
