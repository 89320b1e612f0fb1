"""Conditions of a rule, compiled: whether the packet's value relates to the constant as the rule
wants.
"""

from __future__ import annotations

from collections.abc import Callable

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.nftables.datatypes import BIT_FIELDS, Part, fits, parse_bits, parse_number
from podpath.datapath.nftables.sets import parse_key
from podpath.datapath.nftables.values import Compiled, RulePosition, compile_lookup, compile_value
from podpath.net import nft
from podpath.node.nftables_text import emit_statement

_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": lambda left, right: left < right, ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right, ">=": lambda left, right: left >= right,
}  # fmt: skip


def compile_match(match: nft.NftMatch, place: RulePosition) -> Check:
    """Compile a condition; one that is not modeled answers with a doubt, and never with yes."""
    try:
        return _compile(match, place)
    except ValueError as error:
        doubt = Doubt(
            f"{emit_statement(match)} at {place.where} matches ({error})",
            likely=False,
            ask=place.show,
        )
        return lambda _: doubt


def _compile(match: nft.NftMatch, place: RulePosition) -> Check:
    wanted = match.op not in {"!=", "!"}
    right = match.right
    if isinstance(right, nft.SetRef | nft.SetOf):
        find = compile_lookup(match.left, right, place)

        def check_set(state: HookState) -> Answer:
            value = left.parts(state)
            if value is None or isinstance(value, Doubt):
                return _unsettled(value, match, place)
            return (find(state) is not None) is wanted

        left = compile_value(match.left, place)
        return check_set
    left = compile_value(match.left, place)
    if match.op in _ORDER:
        limit, compare = parse_number(right, left.datatypes[0]), _ORDER[match.op]
        return _check(
            left, lambda value: isinstance(value[0], int) and compare(value[0], limit), match, place
        )
    if _wants_common_bit(match, left):
        items = right.items if isinstance(right, nft.Flags) else (right,)
        bits = parse_bits(
            tuple(item for item in items if isinstance(item, nft.Literal)), left.datatypes[0]
        )
        return _check(
            left,
            lambda value: isinstance(value[0], int) and (value[0] & bits != 0) is wanted,
            match,
            place,
        )
    if match.op not in {"==", "!=", "in"}:
        raise ValueError(f"the operator {match.op}")
    key = parse_key(right, left.datatypes)
    return _check(
        left,
        lambda value: (
            all(fits(part, pattern) for part, pattern in zip(value, key, strict=True)) is wanted
        ),
        match,
        place,
    )


def _wants_common_bit(match: nft.NftMatch, left: Compiled) -> bool:
    """Tell whether one bit in common decides: `ct state new` asks so, and `ct state ! new`; `==`
    and `!=` compare all bits.
    """
    return match.op == "!" or (match.op == "in" and left.datatypes[0] in BIT_FIELDS)


def _check(
    left: Compiled,
    holds: Callable[[tuple[Part, ...]], bool],
    match: nft.NftMatch,
    place: RulePosition,
) -> Check:
    def check(state: HookState) -> Answer:
        value = left.parts(state)
        if value is None or isinstance(value, Doubt):
            return _unsettled(value, match, place)
        return holds(value)

    return check


def _unsettled(value: Doubt | None, match: nft.NftMatch, place: RulePosition) -> Answer:
    if value is None:
        return False
    turned = match.op in {"!=", "!"}
    return value._replace(
        fact=f"{value.fact} ({emit_statement(match)} at {place.where})",
        negated=value.negated is not turned,
    )
