"""BTF made of a few lines, for tests of what reads it (btf.rst)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from podpath.drops.btf import MAGIC

INT, POINTER, STRUCT, UNION, ENUM, TYPEDEF, CONST, PROTOTYPE = 1, 2, 4, 5, 6, 8, 10, 13
Member = tuple[str, int, int]
"""Name, number of its type, and the bit that it begins at."""


class MadeBtf:
    """Types that are added one by one; each addition returns the type's number."""

    def __init__(self) -> None:
        """Begin with no types; the first string is empty."""
        self._types = bytearray()
        self._strings = bytearray(b"\0")
        self._count = 0

    def _text(self, text: str) -> int:
        if not text:
            return 0
        place = len(self._strings)
        self._strings += text.encode() + b"\0"
        return place

    def _add(
        self, name: str, kind: int, members: int, size: int, rest: bytes, flag: int = 0
    ) -> int:
        head = struct.pack("<III", self._text(name), flag << 31 | kind << 24 | members, size)
        self._types += head + rest
        self._count += 1
        return self._count

    def integer(self, name: str, size: int) -> int:
        """Add an integer."""
        return self._add(name, INT, 0, size, struct.pack("<I", size * 8))

    def refer(self, kind: int, target: int, name: str = "") -> int:
        """Add a pointer, typedef or qualifier of a type."""
        return self._add(name, kind, 0, target, b"")

    def compound(
        self, name: str, members: Sequence[Member], kind: int = STRUCT, *, bitfields: bool = False
    ) -> int:
        """Add a struct or union."""
        width = 1 << 24 if bitfields else 0
        rest = b"".join(
            struct.pack("<III", self._text(text), target, width | bit)
            for text, target, bit in members
        )
        return self._add(name, kind, len(members), 0, rest, int(bitfields))

    def enum(self, name: str, values: Mapping[str, int]) -> int:
        """Add an enum."""
        rest = b"".join(
            struct.pack("<Ii", self._text(text), value) for text, value in values.items()
        )
        return self._add(name, ENUM, len(values), 4, rest)

    def prototype(self, parameters: Sequence[int]) -> int:
        """Add a function's type."""
        rest = b"".join(struct.pack("<II", 0, each) for each in parameters)
        return self._add("", PROTOTYPE, len(parameters), 0, rest)

    def emit(self) -> bytes:
        """Return the bytes."""
        types, strings = len(self._types), len(self._strings)
        header = struct.pack("<HBBIIIII", MAGIC, 1, 0, 24, 0, types, types, strings)
        return header + bytes(self._types) + bytes(self._strings)
