"""`-j MARK`: the packet's firewall mark (net/netfilter/xt_mark.c:mark_tg v6.12). Evaluation goes
on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import MarkSet
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import Target
from podpath.xtables.values import FULL_MASK, parse_integer, parse_mark

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

# Each option is `mark = (mark & ~mask) ^ value` with these (value, mask).
OPERATIONS: Mapping[str, Callable[[str], tuple[int, int]]] = {
    "set-xmark": lambda text: (parse_mark(text).value, parse_mark(text).mask),
    "set-mark": lambda text: (
        parse_mark(text).value,
        parse_mark(text).value | parse_mark(text).mask,
    ),
    "and-mark": lambda text: (0, FULL_MASK ^ parse_integer(text)),
    "or-mark": lambda text: (parse_integer(text), parse_integer(text)),
    "xor-mark": lambda text: (parse_integer(text), 0),
}


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the one option to a value and a mask."""
    if len(target.options) != 1 or target.options[0].name not in OPERATIONS:
        raise ValueError(
            "expected one of --set-xmark, --set-mark, --and-mark, --or-mark and --xor-mark"
        )
    option = target.options[0]
    value, mask = OPERATIONS[option.name](single(option))
    keep = FULL_MASK ^ mask

    def set_mark(state: HookState, compiled: CompiledRule) -> None:
        skb = state.skb
        before = skb.mark
        skb.mark = (before & keep) ^ value
        if skb.mark != before:
            rule = compiled.rule
            state.decision = Decision(StepDecision.MARK, MarkSet(rule, skb.mark), rule.span)

    return set_mark
