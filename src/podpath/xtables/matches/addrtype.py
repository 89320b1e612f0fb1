"""`-m addrtype`: what kind of address the local table holds an address for
(net/netfilter/xt_addrtype.c v6.12).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.xtables.context import RuleContext, always, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, MatchOption, words
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.wording import make_form

TYPES: Mapping[str, str] = {
    "UNSPEC": "unspec", "UNICAST": "unicast", "LOCAL": "local", "BROADCAST": "broadcast",
    "ANYCAST": "anycast", "MULTICAST": "multicast", "BLACKHOLE": "blackhole",
    "UNREACHABLE": "unreachable", "PROHIBIT": "prohibit", "THROW": "throw", "NAT": "nat",
    "XRESOLVE": "xresolve",
}  # fmt: skip
LIMITS = ("limit-iface-in", "limit-iface-out")


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check for each option; the interface limits hold for both addresses."""
    limits = tuple(option.name for option in match.options if option.name in LIMITS)
    return tuple(_compile_option(option, match, context, limits) for option in match.options)


def _compile_option(
    option: MatchOption, match: Match, context: RuleContext, limits: tuple[str, ...]
) -> Check:
    if option.name == "src-type":
        return _check_type(option, lambda packet: packet.src, limits)
    if option.name == "dst-type":
        return _check_type(option, lambda packet: packet.dst, limits)
    return always(True) if option.name in LIMITS else unknown_option(match.name, option, context)


def _check_type(
    option: MatchOption, select: Callable[[Packet], Address], limits: tuple[str, ...]
) -> Check:
    names = words(option)
    if not names or not TYPES.keys() >= set(names):
        raise ValueError(f"expected address types, saw {names}")
    types = frozenset(TYPES[name] for name in names)
    wanted = not option.negated
    side = limits[0].rpartition("-")[2] if limits else ""

    def check_type(state: Surroundings) -> bool:
        return (state.address_type(select(state.skb.packet), side) in types) is wanted

    return check_type


MATCH = MatchExtension(
    name="addrtype",
    options=make_options("src-type", "dst-type", flags=LIMITS),
    forms=(
        make_form(
            "addrtype",
            r"ADDRTYPE match",
            r"?src-type (?P<no_src_type>!)?(?P<src_type>\S+)",
            r"?dst-type (?P<no_dst_type>!)?(?P<dst_type>\S+)",
            r"?(?P<flag_limit_iface_in>limit-in)",
            r"?(?P<flag_limit_iface_out>limit-out)",
        ),
    ),
    compiler=compile_match,
)
