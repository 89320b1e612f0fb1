"""`-m iprange`: ranges of addresses (net/netfilter/xt_iprange.c v6.12)."""

from __future__ import annotations

from podpath.net.addresses import Family
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.values import parse_address
from podpath.xtables.wording import make_form


def _compile_source(option: MatchOption, context: RuleContext) -> Check:
    low, high = _parse_range(single(option), context.family)
    wanted = not option.negated

    def check_source(state: Surroundings) -> bool:
        return (low <= state.skb.packet.src.value <= high) is wanted

    return check_source


def _compile_destination(option: MatchOption, context: RuleContext) -> Check:
    low, high = _parse_range(single(option), context.family)
    wanted = not option.negated

    def check_destination(state: Surroundings) -> bool:
        return (low <= state.skb.packet.dst.value <= high) is wanted

    return check_destination


def _parse_range(text: str, family: Family) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    low = parse_address(first, family).value
    return low, (parse_address(last, family).value if dash else low)


MATCH = MatchExtension(
    name="iprange",
    options={
        "src-range": OptionMeaning(check=_compile_source),
        "dst-range": OptionMeaning(check=_compile_destination),
    },
    forms=(
        make_form("iprange", r"source IP range (?:(?P<no_src_range>!) )?(?P<src_range>\S+)"),
        make_form("iprange", r"destination IP range (?:(?P<no_dst_range>!) )?(?P<dst_range>\S+)"),
    ),
    apart=True,
)
