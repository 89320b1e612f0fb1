"""`-j CONNMARK`: the connection's mark, saved from and restored to packets
(net/netfilter/xt_connmark.c v6.12).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import MarksSet
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.datapath.xtables.targets.mark import OPERATIONS
from podpath.node.netfilter import MatchOption, Target
from podpath.xtables.values import FULL_MASK, parse_integer

if TYPE_CHECKING:
    from podpath.datapath.conntrack.connection import Connection
    from podpath.datapath.netfilter.compiled import CompiledRule

SHIFTS = frozenset({"left-shift-mark", "right-shift-mark"})
MASKS = frozenset({"mask", "nfmask", "ctmask"}) | SHIFTS
KNOWN = MASKS | OPERATIONS.keys() | {"save-mark", "restore-mark"}


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile the action with its masks; a packet without a connection goes on unchanged."""
    options = {option.name: option for option in target.options}
    actions = [name for name in options if name not in MASKS]
    if len(actions) != 1 or not options.keys() <= KNOWN:
        raise ValueError(f"expected one action of CONNMARK, saw {sorted(options)}")
    apply = _compile_action(actions[0], options)

    def change_mark(state: HookState, compiled: CompiledRule) -> None:
        connection = state.skb.connection
        if connection is None:
            return
        before = (state.skb.mark, connection.mark)
        apply(state, connection)
        if (state.skb.mark, connection.mark) != before:
            rule = compiled.rule
            state.decision = Decision(
                StepDecision.MARK, MarksSet(rule, state.skb.mark, connection.mark), rule.span
            )

    return change_mark


def _compile_action(
    action: str, options: dict[str, MatchOption]
) -> Callable[[HookState, Connection], None]:
    common = _mask(options, "mask", FULL_MASK)
    shift = _mask(options, "left-shift-mark", 0) - _mask(options, "right-shift-mark", 0)
    packet_mask, connection_mask = (
        _mask(options, "nfmask", common),
        _mask(options, "ctmask", common),
    )

    def save(state: HookState, connection: Connection) -> None:
        mark = _shifted(state.skb.mark & packet_mask, shift)
        connection.mark = (connection.mark & (FULL_MASK ^ connection_mask)) ^ mark

    def restore(state: HookState, connection: Connection) -> None:
        mark = _shifted(connection.mark & connection_mask, shift)
        state.skb.mark = (state.skb.mark & (FULL_MASK ^ packet_mask)) ^ mark

    if action in {"save-mark", "restore-mark"}:
        return save if action == "save-mark" else restore
    value, mask = OPERATIONS[action](single(options[action]))

    def set_mark(_: HookState, connection: Connection) -> None:
        connection.mark = _shifted((connection.mark & (FULL_MASK ^ mask)) ^ value, shift)

    return set_mark


def _shifted(mark: int, places: int) -> int:
    """Shift a mark to the left, or to the right by a negative number of places
    (`connmark_tg_shift`).
    """
    return mark << places & FULL_MASK if places >= 0 else mark >> -places


def _mask(options: dict[str, MatchOption], name: str, default: int) -> int:
    return parse_integer(single(options[name])) if name in options else default
