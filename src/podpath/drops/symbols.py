"""The kernel's table of symbols, to name the function that an address lies in."""

from __future__ import annotations

from bisect import bisect_right

_CODE = frozenset("tTwW")
_MOST = 1 << 20
"""Bytes that a function has at most: an address further from its beginning is in none."""


class SymbolTable:
    """The functions of /proc/kallsyms by their addresses; empty where the kernel hides them."""

    def __init__(self, text: str) -> None:
        """Read the table's lines: address, type, name, and the module's name where it is one."""
        rows = [line.split(maxsplit=3) for line in text.splitlines()]
        found = [(int(row[0], 16), row[2]) for row in rows if len(row) > 2 and row[1] in _CODE]
        found = sorted(row for row in found if row[0])
        self._addresses = [address for address, _ in found]
        self._names = [name for _, name in found]

    def name(self, address: int) -> str:
        """Return the function and how far the address is into it, as `nf_hook_slow+0x12`; the
        address alone where no function is known there.
        """
        place = bisect_right(self._addresses, address) - 1
        if place < 0 or address - self._addresses[place] > _MOST:
            return f"{address:#x}"
        return f"{self._names[place]}+{address - self._addresses[place]:#x}"
