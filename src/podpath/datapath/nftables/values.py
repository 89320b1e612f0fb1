"""Expressions of a rule, compiled to what gives their value for a packet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from podpath.datapath.netfilter.state import Doubt, HookState
from podpath.datapath.nftables.datatypes import Part, Range, parse_number, parse_pattern
from podpath.datapath.nftables.fields import Value, ct_field, fib_field, meta_field, payload_field
from podpath.datapath.nftables.segments import route_field, tcp_option_field
from podpath.datapath.nftables.sets import Elements, SetElement
from podpath.net import nft
from podpath.net.provenance import Option
from podpath.node.nftables import NftRule
from podpath.node.nftables_text import emit_expression

if TYPE_CHECKING:
    from podpath.datapath.nftables.tables import CompiledNftTable

FEW = 16
"""Up to as many numbers a walk takes each for itself; beyond, one for each element that they lead
to.
"""
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "&": lambda left, right: left & right, "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right, "<<": lambda left, right: left << right & 0xFFFFFFFF,
    ">>": lambda left, right: left >> right,
}  # fmt: skip


class RulePosition(NamedTuple):
    """Where a rule stands."""

    table: CompiledNftTable
    rule: NftRule

    @property
    def where(self) -> str:
        """Name the rule so that no other rule of the node has the name."""
        return f"nftables {self.rule.place} rule {self.rule.position} in netns {self.table.netns}"

    @property
    def show(self) -> str:
        """Return the command that prints the rule's chain."""
        return f"nft -a list chain {self.rule.place}"


class Compiled(NamedTuple):
    """An expression: the datatypes of its parts, and what reads it. A single value is not in a
    tuple.
    """

    datatypes: tuple[str, ...]
    read: Callable[[HookState], Value]

    def parts(self, state: HookState) -> tuple[Part, ...] | Doubt | None:
        """Read it as a row of parts."""
        value = self.read(state)
        if value is None or isinstance(value, Doubt):
            return value
        return value if isinstance(value, tuple) and len(self.datatypes) > 1 else (value,)  # type: ignore[return-value]  # a Device is a tuple, too


def compile_value(
    expression: nft.Expression, place: RulePosition, datatype: str = "integer"
) -> Compiled:
    """Compile an expression; `ValueError` for one that is not modeled. `datatype` is what a
    constant is read as.
    """
    match expression:
        case nft.Payload():
            field = payload_field(expression)
        case nft.Meta():
            field = meta_field(expression)
        case nft.Ct():
            field = ct_field(expression)
        case nft.Fib():
            field = fib_field(expression)
        case nft.TcpOption():
            field = tcp_option_field(expression)
        case nft.Rt():
            field = route_field(expression)
        case nft.Binary():
            return _compile_binary(expression, place, datatype)
        case nft.Concat(parts):
            return _compile_concat(parts, place)
        case nft.MapOf():
            return _compile_map(expression, place, datatype)
        case nft.Numgen() | nft.Hash():
            return _compile_drawn(expression, place)
        case nft.Literal() | nft.Flags():
            number = parse_number(expression, datatype)
            return Compiled((datatype,), lambda _: number)
        case _:
            raise ValueError(
                f"expected an expression that is modeled, saw {emit_expression(expression)}"
            )
    return Compiled((field.datatype,), field.read)


def _compile_binary(expression: nft.Binary, place: RulePosition, datatype: str) -> Compiled:
    left = compile_value(expression.left, place, datatype)
    right = compile_value(expression.right, place, left.datatypes[0])
    operate = _ARITHMETIC.get(expression.op)
    if operate is None:
        raise ValueError(f"expected an operation on bits, saw {expression.op}")

    def read(state: HookState) -> Value:
        one, two = left.read(state), right.read(state)
        if isinstance(one, int) and isinstance(two, int):
            return operate(one, two)
        if one is None or isinstance(one, Doubt):
            return one
        return two

    return Compiled(left.datatypes, read)


def _compile_concat(parts: tuple[nft.Expression, ...], place: RulePosition) -> Compiled:
    compiled = tuple(compile_value(part, place) for part in parts)

    def read(state: HookState) -> Value:
        values: list[Part] = []
        for part in compiled:
            value = part.read(state)
            if value is None or isinstance(value, Doubt):
                return value
            values.append(value)  # type: ignore[arg-type]  # a part of a concatenation is no concatenation
        return tuple(values)

    return Compiled(tuple(part.datatypes[0] for part in compiled), read)


def _compile_map(expression: nft.MapOf, place: RulePosition, datatype: str) -> Compiled:
    find = compile_lookup(expression.key, expression.data, place)
    datatypes = place.table.data_types(expression.data) or _anonymous_types(
        expression.data, datatype
    )
    read_data: dict[int, Compiled] = {}

    def read(state: HookState) -> Value:
        entry = find(state)
        if entry is None or isinstance(entry, Doubt):
            return entry
        if entry.data is None:
            return None
        known = read_data.get(id(entry))
        if known is None:
            known = read_data[id(entry)] = _compile_entry(entry.data, place, datatypes)
        return known.read(state)

    return Compiled(datatypes, read)


def _anonymous_types(data: nft.SetRef | nft.SetOf, datatype: str) -> tuple[str, ...]:
    """Return the datatypes that an anonymous map leads to, by its use: an address may have a port
    beside it.
    """
    first = data.elements[0].data if isinstance(data, nft.SetOf) and data.elements else None
    if isinstance(first, nft.Concat):
        return (datatype, "inet_service")
    return (datatype,)


def _compile_entry(
    data: nft.Expression, place: RulePosition, datatypes: tuple[str, ...]
) -> Compiled:
    """Compile what a map leads to; a range of addresses is not modeled, so it answers with a
    doubt.
    """
    try:
        return _compile_data(data, place, datatypes)
    except ValueError as error:
        doubt = Doubt(f"the map at {place.where} decides ({error})", likely=False, ask=place.show)
        return Compiled(datatypes, lambda _: doubt)


def _compile_data(
    data: nft.Expression, place: RulePosition, datatypes: tuple[str, ...]
) -> Compiled:
    parts = data.parts if isinstance(data, nft.Concat) else (data,)
    compiled = tuple(
        compile_value(part, place, datatype)
        for part, datatype in zip(parts, datatypes, strict=False)
    )
    if len(compiled) == 1:
        return compiled[0]
    values = tuple(part.read for part in compiled)
    return Compiled(datatypes, lambda state: tuple(read(state) for read in values))  # type: ignore[misc]  # constants


Find = Callable[[HookState], "SetElement | Doubt | None"]


def compile_lookup(key: nft.Expression, data: nft.SetRef | nft.SetOf, place: RulePosition) -> Find:
    """Compile the look for a value among the elements of a set or map."""
    value = compile_value(key, place)
    if isinstance(data, nft.SetRef):
        elements = place.table.elements(data.name, value.datatypes)
    else:
        elements = Elements(data.elements, value.datatypes)
    if isinstance(key, nft.Numgen | nft.Hash) and key.mod > FEW:
        return _compile_drawn_lookup(key, elements, place)

    def find(state: HookState) -> SetElement | Doubt | None:
        parts = value.parts(state)
        if parts is None or isinstance(parts, Doubt):
            return parts
        return elements.find(parts)

    return find


def _drawn_name(key: nft.Numgen | nft.Hash, place: RulePosition) -> str:
    return f"the number that {emit_expression(key)} gives at {place.where}"


def _compile_drawn(key: nft.Numgen | nft.Hash, place: RulePosition) -> Compiled:
    """Compile a number of the kernel's choice: the walk takes each (nft_numgen.c, nft_hash.c
    v6.12).
    """
    name = _drawn_name(key, place)
    options = tuple(
        Option(number, str(number)) for number in range(key.offset, key.offset + min(key.mod, 4096))
    )
    return Compiled(
        ("integer",), lambda state: state.walk.choices.choose(name, options, random=True)
    )


def _compile_drawn_lookup(
    key: nft.Numgen | nft.Hash, elements: Elements, place: RulePosition
) -> Find:
    """Compile the choice among elements by their share of many numbers, the largest first."""
    name, last = _drawn_name(key, place), key.offset + key.mod - 1
    shares: list[tuple[int, int, SetElement | None]] = []
    for position, entry in enumerate(elements.entries):
        pattern = entry.key[0]
        if isinstance(pattern, Range):
            count = min(pattern.high, last) - max(pattern.low, key.offset) + 1
            if count > 0:
                shares.append((count, position, entry))
    rest = key.mod - sum(count for count, _, _ in shares)
    if rest > 0:
        shares.append((rest, len(shares), elements.otherwise))
    shares.sort(key=lambda item: -item[0])
    by_position = {position: entry for _, position, entry in shares}
    options = tuple(
        Option(position, f"{count} of {key.mod} numbers") for count, position, _ in shares
    )
    return lambda state: by_position[state.walk.choices.choose(name, options, random=True)]


def constant_range(expression: nft.Expression, datatype: str) -> tuple[int, int]:
    """Read a constant as its first and last number."""
    found = parse_pattern(expression, datatype)
    if isinstance(found, Range):
        return found.low, found.high
    raise ValueError(f"expected numbers, saw {emit_expression(expression)}")
