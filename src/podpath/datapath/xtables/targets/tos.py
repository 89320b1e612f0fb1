"""`-j TOS` and `-j DSCP`: the type-of-service byte (net/netfilter/xt_DSCP.c v6.12). Evaluation goes
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import TosSet
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import MatchOption, Target
from podpath.xtables.tos import DSCP_BITS, parse_dscp, parse_dscp_class, parse_tos
from podpath.xtables.values import parse_integer

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the one option to `tos = (tos & ~mask) ^ value`; `--set-tos` with a mask is no
    exception.
    """
    if len(target.options) != 1:
        raise ValueError(f"expected one option of {target.name}")
    value, mask = _parse(target.options[0])

    def set_tos(state: HookState, compiled: CompiledRule) -> None:
        skb = state.skb
        tos = (skb.packet.tos & (0xFF ^ mask)) ^ value
        if tos != skb.packet.tos:
            skb.packet = skb.packet._replace(tos=tos)
            rule = compiled.rule
            state.decision = Decision(StepDecision.TOS, TosSet(rule, tos), rule.span)

    return set_tos


def _parse(option: MatchOption) -> tuple[int, int]:
    text = single(option)
    if option.name == "set-dscp":
        return parse_dscp(text) << 2, DSCP_BITS
    if option.name == "set-dscp-class":
        return parse_dscp_class(text) << 2, DSCP_BITS
    if option.name == "set-tos":
        return parse_tos(text)
    bits = parse_integer(text, most=255)
    operations = {"and-tos": (0, 0xFF ^ bits), "or-tos": (bits, bits), "xor-tos": (bits, 0)}
    if option.name not in operations:
        raise ValueError(f"expected an option of TOS or DSCP, saw --{option.name}")
    return operations[option.name]
