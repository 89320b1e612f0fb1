"""Texts of many lines to what they stand for: each different one is asked for once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from podpath.capture.files.index import Offsets
from podpath.capture.text.digits import Words

FEW = 6
"""Different texts that are looked up one after the other, before all that are left are sorted."""
_UNKNOWN = -2
_MIX, _SPREAD, _33 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0x9E3779B97F4A7C15), np.uint64(33)


def look_up(words: Sequence[Words], meaning: Callable[[bytes], int]) -> NDArray[np.int64]:
    """Return what texts mean, each asked for once, in the order in which they are met; -1 for what means nothing."""
    found = np.full(len(words[0]), _UNKNOWN, np.int64)
    left = _look_up_few(words, meaning, found)
    if not len(left):
        return found
    mixed = words[0][left] * _SPREAD
    for word in words[1:]:
        mixed = (mixed ^ mixed >> _33) * _MIX + word[left]
    _, first, place = np.unique(mixed, return_index=True, return_inverse=True)
    known = np.zeros(len(first), np.int64)
    spelled = np.stack([word[left[first]] for word in words], axis=1).view(f"V{8 * len(words)}").ravel().tolist()
    for one in np.argsort(first).tolist():
        known[one] = meaning(spelled[one].rstrip(b"\0"))
    found[left] = known[place]
    for word in words:
        found[left[word[left] != word[left[first[place]]]]] = -1  # another text that mixes to the same number
    return found


def _look_up_few(words: Sequence[Words], meaning: Callable[[bytes], int], found: NDArray[np.int64]) -> Offsets:
    """Look up the first different texts one after the other: often there are no more. Give where others stand."""
    for _ in range(FEW):
        left = found == _UNKNOWN
        at = int(left.argmax()) if len(left) else 0
        if not len(left) or not left[at]:
            return np.zeros(0, np.int64)
        for word in words:
            left &= word == word[at]
        found[left] = meaning(_spell(words, at))
    return np.flatnonzero(found == _UNKNOWN)


def _spell(words: Sequence[Words], row: int) -> bytes:
    return b"".join(int(word[row]).to_bytes(8, "little") for word in words).rstrip(b"\0")
