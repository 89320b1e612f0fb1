"""The hash by which the kernel picks an address of a NAT range (include/linux/jhash.h:jhash2
v6.12).
"""

from __future__ import annotations

from collections.abc import Sequence

_INITVAL = 0xDEADBEEF
_WORD = 0xFFFFFFFF


def jhash2(words: Sequence[int], initval: int) -> int:
    """Hash 32-bit words in the machine's byte order."""
    a = b = c = (_INITVAL + (len(words) << 2) + initval) & _WORD
    rest = list(words)
    while len(rest) > 3:
        a, b, c = _mix((a + rest[0]) & _WORD, (b + rest[1]) & _WORD, (c + rest[2]) & _WORD)
        rest = rest[3:]
    if not rest:
        return c
    padded = [*rest, 0, 0]
    return _final((a + padded[0]) & _WORD, (b + padded[1]) & _WORD, (c + padded[2]) & _WORD)


def reciprocal_scale(value: int, size: int) -> int:
    """Scale a 32-bit value to 0 .. size - 1 (include/linux/kernel.h v6.12)."""
    return value * size >> 32


def _rotate(word: int, shift: int) -> int:
    return (word << shift | word >> (32 - shift)) & _WORD


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for shifts in ((4, 6, 8), (16, 19, 4)):
        a = (a - c) & _WORD ^ _rotate(c, shifts[0])
        c = (c + b) & _WORD
        b = (b - a) & _WORD ^ _rotate(a, shifts[1])
        a = (a + c) & _WORD
        c = (c - b) & _WORD ^ _rotate(b, shifts[2])
        b = (b + a) & _WORD
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    for shift_one, shift_two, shift_three in ((14, 11, 25), (16, 4, 14)):
        c = ((c ^ b) - _rotate(b, shift_one)) & _WORD
        a = ((a ^ c) - _rotate(c, shift_two)) & _WORD
        b = ((b ^ a) - _rotate(a, shift_three)) & _WORD
    return ((c ^ b) - _rotate(b, 24)) & _WORD
