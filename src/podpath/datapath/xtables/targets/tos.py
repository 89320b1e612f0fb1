"""`-j TOS` and `-j DSCP`: the type-of-service byte (net/netfilter/xt_DSCP.c v6.12). Evaluation goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import TosSet
from podpath.datapath.xtables.context import RuleContext, parse_integer, single
from podpath.datapath.xtables.matches.tos import parse_dscp, parse_tos
from podpath.node.netfilter import MatchOption, Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

DSCP_BITS = 0xFC


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the one option to `tos = (tos & ~mask) ^ value`; `--set-tos` with a mask is no exception."""
    if len(target.options) != 1:
        raise ValueError(f"expected one option of {target.name}")
    value, mask = _parse(target.options[0])

    def set_tos(state: HookState, compiled: CompiledRule) -> None:
        skb = state.skb
        tos = (skb.packet.tos & (0xFF ^ mask)) ^ value
        if tos != skb.packet.tos:
            skb.packet = skb.packet._replace(tos=tos)
            rule = compiled.rule
            state.decision = Decision("tos", TosSet(rule, tos), rule.span)

    return set_tos


def _parse(option: MatchOption) -> tuple[int, int]:
    if option.name in {"set-dscp", "set-dscp-class"}:
        return parse_dscp(option) << 2, DSCP_BITS
    text = single(option)
    if option.name == "set-tos":
        return parse_tos(text)
    bits = parse_integer(text, most=255)
    operations = {"and-tos": (0, 0xFF ^ bits), "or-tos": (bits, bits), "xor-tos": (bits, 0)}
    if option.name not in operations:
        raise ValueError(f"expected an option of TOS or DSCP, saw --{option.name}")
    return operations[option.name]
