"""Sets and maps of nftables: elements found by a packet's value (net/netfilter/nft_set_hash.c,
nft_set_rbtree.c v6.12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podpath.datapath.nftables.datatypes import Part, Pattern, Range, fits, parse_pattern
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.net import nft

Key = tuple[Pattern, ...]
ANY = nft.Literal("*")


class SetElement(NamedTuple):
    """One element, read."""

    key: Key
    data: nft.Expression | None


class Elements:
    """The elements of one set, by datatype read."""

    __slots__ = ("_exact", "_rest", "entries", "otherwise")

    def __init__(self, elements: Sequence[nft.Element], datatypes: tuple[str, ...]) -> None:
        """Read the elements; `ValueError` where one is no constant of its datatype."""
        self.entries: list[SetElement] = []
        self._exact: dict[tuple[Part, ...], SetElement] = {}
        self._rest: list[SetElement] = []
        self.otherwise: SetElement | None = None
        """The catch-all element."""
        for element in elements:
            self._add(element, datatypes)

    def _add(self, element: nft.Element, datatypes: tuple[str, ...]) -> None:
        if element.key == ANY:
            self.otherwise = SetElement((), element.data)
            return
        entry = SetElement(parse_key(element.key, datatypes), element.data)
        self.entries.append(entry)
        if all(
            isinstance(pattern, Range) and pattern.low == pattern.high for pattern in entry.key
        ) and not ({"iface_index"} & set(datatypes)):
            self._exact[
                tuple(pattern.low for pattern in entry.key if isinstance(pattern, Range))
            ] = entry
        else:
            self._rest.append(entry)

    def find(self, value: tuple[Part, ...]) -> SetElement | None:
        """Find the element that holds a value; the catch-all one, or None, where no other does."""
        drawn = any(isinstance(part, DrawnPort) for part in value)
        found = None if drawn else self._exact.get(value)
        if found is not None:
            return found
        for entry in self.entries if drawn else self._rest:
            if all(fits(part, pattern) for part, pattern in zip(value, entry.key, strict=True)):
                return entry
        return self.otherwise


def parse_key(expression: nft.Expression, datatypes: tuple[str, ...]) -> Key:
    """Read an element's key, part by part."""
    parts = expression.parts if isinstance(expression, nft.Concat) else (expression,)
    if len(parts) != len(datatypes):
        raise ValueError(f"expected {len(datatypes)} parts of a key, saw {len(parts)}")
    return tuple(
        parse_pattern(part, datatype) for part, datatype in zip(parts, datatypes, strict=True)
    )
