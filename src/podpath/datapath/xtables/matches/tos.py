"""`-m tos` and `-m dscp`: the type-of-service byte and its upper six bits (net/netfilter/xt_dscp.c v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, parse_integer, single
from podpath.node.netfilter import Match, MatchOption

TOS_NAMES: Mapping[str, int] = {
    "Minimize-Delay": 0x10,
    "Maximize-Throughput": 0x08,
    "Maximize-Reliability": 0x04,
    "Minimize-Cost": 0x02,
    "Normal-Service": 0x00,
}
NAMED_MASK = 0x3F
"""A symbolic name looks at these bits only (iptables, extensions/tos_values.c)."""

DSCP_CLASSES: Mapping[str, int] = {
    **{f"CS{number}": number << 3 for number in range(8)},
    **{f"AF{group}{drop}": group << 3 | drop << 1 for group in range(1, 5) for drop in range(1, 4)},
    "BE": 0,
    "EF": 0x2E,
}


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def parse_tos(text: str) -> tuple[int, int]:
    """Read `0x10`, `0x10/0x3f` or a name; gives value and mask."""
    if text in TOS_NAMES:
        return TOS_NAMES[text], NAMED_MASK
    value, slash, mask = text.partition("/")
    return parse_integer(value, most=255), parse_integer(mask, most=255) if slash else 255


def parse_dscp(option: MatchOption) -> int:
    """Read `--dscp 0x2e` or `--dscp-class EF`; gives the six bits."""
    text = single(option)
    if option.name.endswith("class"):
        if text.upper() not in DSCP_CLASSES:
            raise ValueError(f"expected a DSCP class, saw {text!r}")
        return DSCP_CLASSES[text.upper()]
    return parse_integer(text, most=63)


def _compile_tos(option: MatchOption, _: RuleContext) -> Check:
    value, mask = parse_tos(single(option))
    return _check(value, mask, wanted=not option.negated)


def _compile_dscp(option: MatchOption, _: RuleContext) -> Check:
    return _check(parse_dscp(option) << 2, 0xFC, wanted=not option.negated)


def _check(value: int, mask: int, *, wanted: bool) -> Check:
    def check_tos(state: HookState) -> bool:
        return (state.skb.packet.tos & mask == value) is wanted

    return check_tos


OPTIONS: Mapping[str, OptionCompiler] = {"tos": _compile_tos, "dscp": _compile_dscp, "dscp-class": _compile_dscp}
