"""`-j MARK`: the packet's firewall mark (net/netfilter/xt_mark.c:mark_tg v6.12). Evaluation goes
on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.values import FULL_MASK, parse_integer, parse_mark
from podpath.xtables.wording import Groups, make_form, read_bits

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
MARK_WORDS = r"(?P<action>set|and|or|xor|xset) (?P<value>\S+)"


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile the one option to a value and a mask."""
    if len(target.options) != 1 or target.options[0].name not in OPERATIONS:
        raise ValueError(
            "expected one of --set-xmark, --set-mark, --and-mark, --or-mark and --xor-mark"
        )
    option = target.options[0]
    value, mask = OPERATIONS[option.name](single(option))
    keep = FULL_MASK ^ mask

    def set_mark(state: RuleActions) -> None:
        before = state.skb.mark
        mark = (before & keep) ^ value
        if mark != before:
            state.set_mark(mark)

    return set_mark


def list_mark(groups: Groups) -> tuple[MatchOption, ...]:
    """Read `MARK or 0x4000`: iptables-save spells every kind of it as `--set-xmark VALUE/MASK`
    (libxt_MARK.c:mark_tg_print).
    """
    value, _, mask_text = (groups["value"] or "0").partition("/")
    bits = read_bits(value)
    mask = read_bits(mask_text) if mask_text else FULL_MASK
    action = groups["action"]
    if action == "and":
        bits, mask = 0, bits ^ FULL_MASK
    elif action == "or":
        mask = bits
    elif action == "xor":
        mask = 0
    return (MatchOption("set-xmark", (f"{bits:#x}/{mask:#x}",)),)


TARGET = TargetExtension(
    name="MARK",
    options=make_options(*OPERATIONS),
    forms=(make_form("MARK", r"MARK " + MARK_WORDS),),
    listed=list_mark,
    compiler=compile_target,
)
