"""`-m addrtype`: the type that the local table gives an address
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
    check = _check_type if context.family == 4 else _check_type6
    if option.name == "src-type":
        return check(option, lambda packet: packet.src, limits)
    if option.name == "dst-type":
        return check(option, lambda packet: packet.dst, limits)
    if option.name in LIMITS:
        return always(True)
    return unknown_option(match.name, option, context)


def _check_type(
    option: MatchOption, select: Callable[[Packet], Address], limits: tuple[str, ...]
) -> Check:
    types, wanted = _read_types(option), not option.negated
    side = limits[0].rpartition("-")[2] if limits else ""

    def check_type(state: Surroundings) -> bool:
        return (state.address_type(select(state.skb.packet), side) in types) is wanted

    return check_type


def _read_types(option: MatchOption) -> frozenset[str]:
    names = words(option)
    if not names or not TYPES.keys() >= set(names):
        raise ValueError(f"expected address types, saw {names}")
    return frozenset(TYPES[name] for name in names)


LOOKED_UP = frozenset({"local", "anycast", "unreachable"})
"""Types that IPv6 looks up; the others it tells by the address alone."""


def _check_type6(
    option: MatchOption, select: Callable[[Packet], Address], limits: tuple[str, ...]
) -> Check:
    """Compile the types of IPv6: unlike those of IPv4 `LOCAL,UNICAST` asks for both, and `UNICAST`
    is an own address too (`match_type6`).
    """
    types, wanted = _read_types(option), not option.negated
    side = limits[0].rpartition("-")[2] if limits else ""
    looked_up = types & LOOKED_UP

    def check_type(state: Surroundings) -> bool:
        address = select(state.skb.packet)
        plain = {
            "multicast": address.is_multicast,
            "unicast": not (address.is_multicast or address.is_unspecified),
            "unspec": address.is_unspecified,
        }
        fits = all(plain.get(kind, True) for kind in types)
        if fits and looked_up:
            fits = state.address_type(address, side) in looked_up
        return fits is wanted

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
