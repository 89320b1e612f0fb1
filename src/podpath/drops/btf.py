"""The kernel's description of its own types (BTF) to the offsets and names that a BPF program
needs.

Comes in: the bytes of /sys/kernel/btf/vmlinux (btf.rst). Goes out: where a member of a struct
stands, what the values of an enum are called, and how many arguments a tracepoint has. A kernel
lays its structs out as it was built, so what was compiled elsewhere would read the wrong bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.net.errors import PodpathError

MAGIC = 0xEB9F
_HEADER = struct.Struct("<HBBIIIII")
_TYPE = struct.Struct("<III")
_MEMBER = struct.Struct("<III")
_VALUE = struct.Struct("<Ii")
_ARRAY_SIZE, _INT_SIZE = 12, 4
STRUCT, UNION, ENUM, TYPEDEF, FUNC_PROTO, POINTER = 4, 5, 6, 8, 13, 2
_MODIFIERS = frozenset({TYPEDEF, 9, 10, 11, 18})
"""Kinds that only qualify another type: typedef, volatile, const, restrict and type tags."""
_FIXED = {1: _INT_SIZE, 3: _ARRAY_SIZE, 14: 4, 17: 4}
"""Bytes that follow a type of a kind: an integer, an array, a variable, a declaration's tag."""
_EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, 15: 12, 19: 12}
"""Bytes that follow for each member, value or parameter."""
_DEPTH = 32
"""Types that a chain of qualifiers or anonymous members goes through at most."""
_BITFIELD = 1 << 31


class BtfError(PodpathError):
    """The bytes are no BTF, or damaged."""


class _Type(NamedTuple):
    kind: int
    members: int
    target: int
    """The type that it refers to, or its size."""
    position: int
    """Where its members begin."""
    bitfields: bool
    """True where members' offsets hold the width of bit fields too."""


class TypeTable:
    """The types of one BTF, indexed by number and, as they are asked for, by name."""

    def __init__(self, data: bytes) -> None:
        """Index every type; `BtfError` where the bytes are damaged."""
        try:
            magic, _, _, length, types, type_length, strings, string_length = _HEADER.unpack_from(
                data
            )
        except struct.error as error:
            raise BtfError("expected BTF, saw fewer bytes than its header has") from error
        if magic != MAGIC:
            raise BtfError(f"expected BTF of this machine's byte order, saw magic {magic:#06x}")
        start = length + types
        end = start + type_length
        first = length + strings
        if max(end, first + string_length) > len(data):
            raise BtfError("expected BTF to be whole, saw its end cut off")
        self._data = data
        self._strings = data[first : first + string_length]
        self._positions = [0, *_list_positions(data, start, end)]
        self._known: dict[tuple[str, int], int | None] = {}

    def find_offset(self, name: str, path: str) -> int | None:
        """Return the byte at which a member of a struct begins; None where there is none.

        `path` names members of embedded structs with dots; anonymous ones are looked through.
        """
        number = self._find(name, STRUCT)
        bits = 0
        for member in path.split("."):
            found = None if number is None else self._find_member(number, member, _DEPTH)
            if found is None:
                return None
            number = found[1]
            bits += found[0]
        return bits // 8

    def list_values(self, name: str) -> Mapping[int, str]:
        """Return the names of an enum's values; empty where there is no such enum."""
        number = self._find(name, ENUM)
        if number is None:
            return {}
        found = self._read(number)
        entries = (
            _VALUE.unpack_from(self._data, found.position + index * _VALUE.size)
            for index in range(found.members)
        )
        return {value: self._string(text) for text, value in entries}

    def count_parameters(self, name: str) -> int | None:
        """Return how many parameters the function has that a typedef points to; None if none
        has.
        """
        number = self._find(name, TYPEDEF)
        for _ in range(_DEPTH):
            if number is None or not 0 < number < len(self._positions):
                return None
            found = self._read(number)
            if found.kind == FUNC_PROTO:
                return found.members
            if found.kind not in (*_MODIFIERS, POINTER):
                return None
            number = found.target
        return None

    def _find_member(self, number: int, name: str, depth: int) -> tuple[int, int] | None:
        """Return the bit at which a member begins and its type."""
        found = self._resolve(number)
        if found is None or found.kind not in (STRUCT, UNION) or depth == 0:
            return None
        for text, target, offset in self._list_members(found):
            if self._string(text) == name:
                return offset, target
            inner = self._find_member(target, name, depth - 1) if text == 0 else None
            if inner is not None:
                return offset + inner[0], inner[1]
        return None

    def _list_members(self, found: _Type) -> Iterator[tuple[int, int, int]]:
        for index in range(found.members):
            text, target, offset = _MEMBER.unpack_from(
                self._data, found.position + index * _MEMBER.size
            )
            yield text, target, offset & 0xFFFFFF if found.bitfields else offset

    def _resolve(self, number: int) -> _Type | None:
        """Return the type behind its qualifiers."""
        for _ in range(_DEPTH):
            if not 0 < number < len(self._positions):
                return None
            found = self._read(number)
            if found.kind not in _MODIFIERS:
                return found
            number = found.target
        return None

    def _find(self, name: str, kind: int) -> int | None:
        """Return the number of the type of a kind and name."""
        if (name, kind) not in self._known:
            self._known[name, kind] = self._search(name, kind)
        return self._known[name, kind]

    def _search(self, name: str, kind: int) -> int | None:
        for number in range(1, len(self._positions)):
            position = self._positions[number]
            if self._data[position + 7] & 0x1F == kind:
                (text,) = struct.unpack_from("<I", self._data, position)
                if text and self._string(text) == name:
                    return number
        return None

    def _read(self, number: int) -> _Type:
        position = self._positions[number]
        _, info, target = _TYPE.unpack_from(self._data, position)
        kind, count = info >> 24 & 0x1F, info & 0xFFFF
        return _Type(kind, count, target, position + _TYPE.size, bool(info & _BITFIELD))

    def _string(self, offset: int) -> str:
        end = self._strings.find(b"\0", offset)
        return self._strings[offset : end if end >= 0 else None].decode("ascii", "replace")


def _list_positions(data: bytes, start: int, end: int) -> list[int]:
    """Return where each type begins."""
    positions: list[int] = []
    position = start
    while position + _TYPE.size <= end:
        positions.append(position)
        kind = data[position + 7] & 0x1F
        each = _EACH.get(kind)
        position += 12 + _FIXED.get(kind, 0)
        if each is not None:
            position += (data[positions[-1] + 4] | data[positions[-1] + 5] << 8) * each
    if position != end:
        raise BtfError("expected BTF's types to end where its header says, saw one cut off")
    return positions
