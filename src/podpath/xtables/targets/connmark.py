"""`-j CONNMARK`: the connection's mark, saved from and restored to packets
(net/netfilter/xt_connmark.c v6.12).
"""

from __future__ import annotations

from collections.abc import Callable

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.targets.mark import MARK_WORDS, OPERATIONS, list_mark
from podpath.xtables.values import FULL_MASK, parse_integer
from podpath.xtables.wording import Groups, make_form

SHIFTS = frozenset({"left-shift-mark", "right-shift-mark"})
MASKS = frozenset({"mask", "nfmask", "ctmask"}) | SHIFTS
COPIES = frozenset({"save-mark", "restore-mark"})
KNOWN = MASKS | OPERATIONS.keys() | COPIES
Marks = tuple[int, int]
"""The marks of a packet and of its connection."""


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile the action with its masks; a packet without a connection goes on unchanged."""
    options = {option.name: option for option in target.options}
    actions = [name for name in options if name not in MASKS]
    if len(actions) != 1 or not options.keys() <= KNOWN:
        raise ValueError(f"expected one action of CONNMARK, saw {sorted(options)}")
    change = _compile_action(actions[0], options)

    def change_mark(state: RuleActions) -> None:
        connection = state.skb.connection
        if connection is None:
            return
        before = (state.skb.mark, connection.mark)
        after = change(*before)
        if after != before:
            state.set_marks(*after)

    return change_mark


def _compile_action(action: str, options: dict[str, MatchOption]) -> Callable[[int, int], Marks]:
    common = _mask(options, "mask", FULL_MASK)
    shift = _mask(options, "left-shift-mark", 0) - _mask(options, "right-shift-mark", 0)
    packet_mask = _mask(options, "nfmask", common)
    connection_mask = _mask(options, "ctmask", common)

    def save(mark: int, connection: int) -> Marks:
        saved = _shifted(mark & packet_mask, shift)
        return mark, (connection & (FULL_MASK ^ connection_mask)) ^ saved

    def restore(mark: int, connection: int) -> Marks:
        restored = _shifted(connection & connection_mask, shift)
        return (mark & (FULL_MASK ^ packet_mask)) ^ restored, connection

    if action in COPIES:
        return save if action == "save-mark" else restore
    value, mask = OPERATIONS[action](single(options[action]))

    def set_mark(packet: int, connection: int) -> Marks:
        return packet, _shifted((connection & (FULL_MASK ^ mask)) ^ value, shift)

    return set_mark


def _shifted(mark: int, places: int) -> int:
    """Shift a mark to the left, or to the right by a negative number of places
    (`connmark_tg_shift`).
    """
    if places >= 0:
        return mark << places & FULL_MASK
    return mark >> -places


def _mask(options: dict[str, MatchOption], name: str, default: int) -> int:
    if name in options:
        return parse_integer(single(options[name]))
    return default


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    if "value" in groups:
        return list_mark(groups)
    both = groups["mask"] or "0xffffffff"
    nfmask = groups["save_nfmask"] or groups["restore_nfmask"] or both
    ctmask = groups["save_ctmask"] or groups["restore_ctmask"] or both
    return (
        MatchOption(f"{groups['action']}-mark"),
        MatchOption("nfmask", (nfmask,)),
        MatchOption("ctmask", (ctmask,)),
    )


TARGET = TargetExtension(
    name="CONNMARK",
    options=make_options(*OPERATIONS, *sorted(MASKS), flags=COPIES),
    forms=(
        make_form("CONNMARK", r"CONNMARK " + MARK_WORDS),
        make_form(
            "CONNMARK",
            r"CONNMARK (?P<action>save|restore)",
            r"?mask (?P<mask>0x\S+)",
            r"?nfmask (?P<save_nfmask>0x\S+) ctmask ~(?P<save_ctmask>0x\S+)",
            r"?ctmask (?P<restore_ctmask>0x\S+) nfmask ~(?P<restore_nfmask>0x\S+)",
        ),
    ),
    listed=_list,
    compiler=compile_target,
    tracks=True,
)
