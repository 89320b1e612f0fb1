"""Many lines of text read side by side: a place in each of them, moved on together by what stands there.

A step looks at eight bytes of each line as one number, so that digits are found, counted and added up by arithmetic on whole
arrays. A line in which something else stands than is asked for is no longer `good`; what is read of it then means nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.files.index import Bytes, Offsets
from podpath.capture.text.digits import (
    ZEROS,
    Mask,
    Words,
    add_up,
    below,
    count_digits,
    exponent,
    first_sign,
    word_of,
)

ROOM = 1 << 12
"""Bytes of zeros behind a text: no step of a line that is no longer good goes further past its end, or before its beginning."""
WIDEST = 40
"""Bytes of the longest word that is looked up as a whole: an IPv6 address has up to 39."""
_HIGH, _SPACES = word_of(b"\x80" * 8), word_of(b" " * 8)
_FULL = tuple(word_of(b"\xff" * size) for size in range(9))
_POINT, _BYTE, _8 = np.uint64(ord(".")), np.uint64(255), np.uint64(8)
_TOP = np.int64(71)
"""By which digits are shifted to the highest bytes of a word, less the place of the sign behind them."""
_POWERS = np.array([10**power for power in range(9)], np.uint64)
_ADDRESS_SIGNS = np.zeros(256, np.bool_)
_ADDRESS_SIGNS[[*b"0123456789abcdef:"]] = True


class Text:
    """The bytes of some lines, in memory of their own with room behind them."""

    __slots__ = ("_eights", "_pairs", "_wide", "bytes")

    def __init__(self, size: int) -> None:
        """Take memory for so many bytes."""
        self.bytes = np.zeros(size + ROOM, np.uint8)
        self._eights, self._pairs, self._wide = (self._windows(width) for width in (8, 16, WIDEST))

    def load(self, data: Bytes) -> None:
        """Take bytes in place of those that were there."""
        self.bytes[: len(data)] = data
        self.bytes[len(data) : len(data) + ROOM] = 0

    def _windows(self, width: int) -> NDArray[Any]:
        """See the bytes as overlapping words; of a type without alignment, which NumPy picks from the fast way."""
        return np.ndarray((len(self.bytes) - width + 1,), np.dtype(("V", width)), self.bytes.data, 0, (1,))

    def word(self, at: Offsets) -> Words:
        """Return the eight bytes at each place, the first as the lowest."""
        return self._eights[at].view("<u8")

    def pair(self, at: Offsets) -> tuple[Words, Words]:
        """Return sixteen bytes at each place, as two words."""
        both = self._pairs[at].view("<u8").reshape(-1, 2)
        return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])

    def block(self, at: Offsets) -> Bytes:
        """Return the `WIDEST` bytes at each place, a row each."""
        return self._wide[at].view(np.uint8).reshape(-1, WIDEST)


class Cursor:
    """A place in each of some lines. Mutable while they are read."""

    __slots__ = ("at", "end", "good", "places", "rows", "text")

    def __init__(self, text: Text, at: Offsets, end: Offsets, rows: Offsets) -> None:
        """Stand at a place of each line; `rows` are the lines' numbers, `end` is where each ends."""
        self.text, self.at, self.end, self.rows = text, at, end, rows
        self.good = np.ones(len(at), np.bool_)
        self.places: Offsets | slice = slice(None)
        """Where its lines stand among those that they were picked from."""

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.at)

    def pick(self, mask: Mask) -> Cursor:
        """Go on with some of the lines by themselves, those that are good."""
        wanted = mask & self.good
        if wanted.all():
            return self
        chosen = np.flatnonzero(wanted)
        part = Cursor(self.text, self.at[chosen], self.end[chosen], self.rows[chosen])
        part.places = chosen
        return part

    def join(self, part: Cursor) -> None:
        """Stand where lines stand that were picked and read further."""
        if part is not self:
            at = self.at.copy()
            at[part.places] = part.at
            self.at = at
            if part.end is not self.end:
                self.end[part.places] = part.end
            self.good[part.places] &= part.good

    def word(self, ahead: int = 0) -> Words:
        """Return the next eight bytes of each line."""
        return self.text.word(self.at + ahead if ahead else self.at)

    def stands(self, literal: bytes, word: Words | None = None) -> Mask:
        """Tell in which lines a text of up to eight bytes comes next."""
        seen = self.word() if word is None else word
        if len(literal) < 8:
            seen = seen & _FULL[len(literal)]
        return np.asarray(seen == word_of(literal), np.bool_)

    def take(self, literal: bytes) -> None:
        """Move past a text that must come next in every line."""
        for start in range(0, len(literal), 16):
            part = literal[start : start + 16]
            if len(part) > 8:
                low, high = self.text.pair(self.at)
                self.good &= (low == word_of(part[:8])) & self.stands(part[8:], high)
            else:
                self.good &= self.stands(part)
            self.at = self.at + len(part)

    def skip(self, literal: bytes, word: Words | None = None) -> Mask:
        """Move past a text of up to eight bytes where it comes next; tell where it did."""
        found = self.stands(literal, word)
        self.at = self.at + found * np.int64(len(literal))
        return found

    def is_number(self, word: Words, then: bytes) -> Mask:
        """Tell where up to seven digits and a sign behind them are next; `word` are the next eight bytes."""
        place = count_digits(word ^ ZEROS)
        return np.asarray((place > 7) & (word >> (place - 7).view(np.uint64) & _BYTE == np.uint64(then[0])), np.bool_)

    def number(self, before: bytes, digits: int, then: bytes = b"") -> Words:
        """Read a text, a number of at most so many digits and what must follow it, which are eight bytes at most, and move on."""
        word, _ = self._behind(before)
        bits = word ^ ZEROS
        place = count_digits(bits)
        self.good &= (place - 8).view(np.uint64) < np.uint64(8 * digits)
        value = add_up(bits << (_TOP - place).view(np.uint64))
        if then:
            word >>= (place - 7).view(np.uint64)
            self.good &= word & _FULL[len(then)] == word_of(then)
        place >>= 3
        place += len(before) + len(then)
        self.at = self.at + place
        return value

    def long_number(self, before: bytes, then: bytes = b"") -> Words:
        """Read a text of up to five bytes, a number of up to ten digits and the sign that must follow it, and move on."""
        low, high = self._behind(before)
        bits, more = low ^ ZEROS, high ^ ZEROS
        place, beyond = count_digits(bits), count_digits(more)
        long = place < 0
        self.good &= (place != 7) & (~long | (beyond > 0) & (beyond < 24))
        digits = np.minimum(np.maximum(beyond, 7) >> 3, 2)
        if then:
            sign = np.where(long, high >> (beyond - 7).view(np.uint64), low >> (place - 7).view(np.uint64))
            self.good &= sign & _BYTE == np.uint64(then[0])
        value = add_up(bits << (_TOP - np.where(long, 71, place)).view(np.uint64))
        rest = add_up(more << (_TOP - beyond).view(np.uint64))
        value = np.where(long, value * _POWERS.take(digits) + rest, value)
        self.at = self.at + (np.where(long, 8 + digits, place >> 3) + (len(before) + len(then)))
        return value

    def _behind(self, before: bytes) -> tuple[Words, Words]:
        """Return what stands behind a text of up to nine bytes that must come next: eight bytes, and those behind them."""
        if not before:
            return self.text.pair(self.at)
        low, high = self.text.pair(self.at)
        size = len(before)
        self.good &= low & _FULL[min(size, 8)] == word_of(before[:8])
        if size < 8:
            shift = np.uint64(8 * size)
            return low >> shift | high << np.uint64(64) - shift, high >> shift
        if size > 8:
            self.good &= high & _BYTE == np.uint64(before[8])
            high = high >> _8
        return high, np.zeros_like(high)

    def octets(self) -> tuple[Words, Mask]:
        """Read an IPv4 address, and tell where a point and more follow it; the point is taken."""
        value = np.zeros(len(self), np.uint64)
        point = np.zeros(len(self), np.bool_)
        for place in range(4):
            if place % 2 == 0:
                word = self.word()  # two numbers of up to three digits, each with a point
            bits = word ^ ZEROS
            digits = count_digits(bits)
            octet = add_up(bits << (_TOP - digits).view(np.uint64))
            word = word >> (digits - 7).view(np.uint64)
            point = word & _BYTE == _POINT
            word >>= _8
            self.good &= ((digits - 8).view(np.uint64) < np.uint64(24)) & (octet < np.uint64(256))
            self.good &= (bits & _BYTE != np.uint64(0)) | (digits < 16)  # no other number begins with 0
            value <<= _8
            value |= octet
            digits >>= 3
            digits += point
            self.at = self.at + digits
            if place < 3:
                self.good &= point
        return value, point

    def seventeen(self) -> list[Words]:
        """Read the bytes of what may be an Ethernet address, as words that zeros fill up."""
        low, high = self.text.pair(self.at)
        last = self.text.word(self.at + 16)
        last &= _BYTE
        self.at = self.at + 17
        return [low, high, last]

    def name(self) -> list[Words]:
        """Read a word of up to sixteen bytes that ends at a space, as two words that zeros fill up; the space is not taken."""
        low, high = self.text.pair(self.at)
        first, second = first_sign(low, 32), first_sign(high, 32)
        inside = first < 0
        low = np.where(inside, low, low & below(first))
        long = inside & (second < 0)
        high = np.where(inside, np.where(long, high, high & below(second)), np.uint64(0))
        length = np.where(inside, np.where(long, 16, 8 + (second >> 3)), first >> 3)
        self.at = self.at + length
        self.good &= (length > 0) & (self.text.bytes[self.at] == ord(" "))
        return [low, high]

    def until(self, before: bytes, sign: int) -> Words:
        """Read a text, and a word of up to eight bytes that a sign ends, as zeros fill it up; the sign is not taken."""
        word, _ = self._behind(before)
        place = first_sign(word, sign)
        self.good &= place >= 0
        self.at = self.at + ((np.maximum(place, 7) >> 3) + len(before))
        return word & below(place)

    def seek(self, sign: int, most: int) -> None:
        """Move to the next sign, which stands in the same line and in the next `most` words of eight bytes."""
        left = np.arange(len(self))
        for _ in range(most):
            if not len(left):
                break
            place = first_sign(self.text.word(self.at[left]), sign)
            self.at[left] += np.where(place < 0, 8, place >> 3)
            left = left[(place < 0) & (self.at[left] < self.end[left])]
        self.good[left] = False
        self.good &= self.at < self.end

    def spaces(self) -> None:
        """Move past up to eight spaces."""
        word = self.word() ^ _SPACES
        other = ((word & ~_HIGH) + ~_HIGH | word) & _HIGH
        place = exponent(other & np.negative(other))
        self.at = self.at + np.where(place < 0, 8, place >> 3)

    def six(self) -> list[Words]:
        """Read what may be an IPv6 address, as words that zeros fill up."""
        block = self.text.block(self.at)
        inside = _ADDRESS_SIGNS.take(block)
        inside[:, -1] = False
        length = inside.argmin(axis=1)
        words = np.where(np.arange(WIDEST) < length[:, None], block, np.uint8(0)).view("<u8")
        self.good &= length > 1
        self.at = self.at + length
        return [np.ascontiguousarray(words[:, column]) for column in range(words.shape[1])]
