"""Digits in words of eight bytes: found, counted and added up by arithmetic on whole arrays.

A word holds the bytes of a text, the first as the lowest. A place is given as eight times a byte's number, and 7: that of the
highest bit of the byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.capture.files.index import Offsets

Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]


def word_of(text: bytes) -> np.uint64:
    """Return up to eight bytes as a word."""
    return np.uint64(int.from_bytes(text.ljust(8, b"\0"), "little"))


ZEROS, _HIGH, _PAST_NINE = word_of(b"0" * 8), word_of(b"\x80" * 8), word_of(b"\x76" * 8)
_ONES = word_of(b"\1" * 8)
_TENS, _HUNDREDS, _MYRIADS = np.uint64(2561), np.uint64(6553601), np.uint64(42949672960001)
_PAIRS, _QUADS = word_of(b"\xff\0" * 4), word_of(b"\xff\xff\0\0" * 2)
_8, _16, _32 = np.uint64(8), np.uint64(16), np.uint64(32)
_BIAS = 1023
"""Of the exponent of a float of 64 bits, into which words are turned to find their highest bit."""


def exponent(word: Words) -> Offsets:
    """Return the place of the one bit of each word, or of its highest; a negative number where there is none."""
    found: Offsets = word.astype(np.float64).view(np.int64)
    found >>= 52
    found -= _BIAS
    return found


def beyond_nine(bits: Words) -> Words:
    """Return words with the highest bit set in all bytes above 9; one byte from 0x8a on sets it in the next one too."""
    other = bits + _PAST_NINE
    other |= bits
    other &= _HIGH
    return other


def count_digits(bits: Words) -> Offsets:
    """Give, of words whose digits are 0 to 9, eight times the place of the first other byte, and 7."""
    other = beyond_nine(bits)
    other &= np.negative(other)
    return exponent(other)


def first_sign(word: Words, sign: int) -> Offsets:
    """Return eight times the place of the first such byte, and 7; a negative number where there is none."""
    bits = word ^ _ONES * np.uint64(sign)
    found = (bits - _ONES) & ~bits & _HIGH
    return exponent(found & np.negative(found))


def below(place: Offsets) -> Words:
    """Return masks of the bytes before the one of a place."""
    return (np.uint64(1) << (np.maximum(place, 7) - 7).view(np.uint64)) - np.uint64(1)


def add_up(bits: Words) -> Words:
    """Return the number that eight digits make, the lowest byte the first digit."""
    out = bits * _TENS
    out >>= _8
    out &= _PAIRS
    out *= _HUNDREDS
    out >>= _16
    out &= _QUADS
    out *= _MYRIADS
    out >>= _32
    return out


def match_digits(text: Words, pattern: bytes) -> tuple[Words, Mask]:
    """Return as numbers the digits of words of a pattern (a 0 for each digit, all else as it stands), and where they have it."""
    bits = text ^ word_of(pattern)
    exact = word_of(bytes(0 if sign == ord("0") else 255 for sign in pattern))
    return bits, (beyond_nine(bits) | bits & exact) == np.uint64(0)


def last_sign(word: Words) -> tuple[Offsets, Words]:
    """Return eight times the place of the last byte that is no digit, and 7; and the number that the digits behind it make."""
    bits = word ^ ZEROS
    place = exponent(beyond_nine(bits))
    behind = (place + 1).view(np.uint64)
    return place, add_up(bits >> behind << behind)
