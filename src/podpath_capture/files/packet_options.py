"""Options of single packets in a pcapng file that tell of others: comments, counts of packets that
were dropped before one, identifiers that count all packets (draft-ietf-opsawg-pcapng, 4.3.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]
COMMENT, DROPS, IDENTIFIER = 1, 4, 5
MOST = 16
"""Options of one packet that are looked at."""
_WIDE = 8
"""Bytes of a count or an identifier."""


class PacketNotes:
    """What options of packets told so far. Mutable while the file is read."""

    def __init__(self) -> None:
        """Begin with none."""
        self._comment: int | None = None
        self._dropped, self._first_drop = 0, 0
        self._missing, self._first_gap = 0, 0
        self._latest: int | None = None
        self._counts_on = True

    def add(self, words: NDArray[np.uint32], order: str, starts: Offsets, ends: Offsets) -> None:
        """Read the options of some packets, in the order of the file: each list begins and ends at
        a byte.
        """
        places = starts.copy()
        identifiers: list[tuple[Offsets, NDArray[np.uint64]]] = []
        for _ in range(MOST):
            alive = places + 4 <= ends
            if not alive.any():
                break
            places, ends = places[alive], ends[alive]
            head = words[places]
            code, length = (
                (head & 0xFFFF, head >> 16) if order == "<" else (head >> 16, head & 0xFFFF)
            )
            self._note_comment(places[code == COMMENT])
            wide = (length == _WIDE) & (places + 4 + _WIDE <= ends)
            self._note_drops(words, order, places[wide & (code == DROPS)])
            mine = places[wide & (code == IDENTIFIER)]
            identifiers.append((mine, _read_wide(words, order, mine)))
            going = code != 0
            ends = ends[going]
            places = (places + 4 + ((length.astype(np.int64) + 3) >> 2 << 2))[going]
        for place, value in sorted(
            pair
            for some, values in identifiers
            for pair in zip(some.tolist(), values.tolist(), strict=True)
        ):
            self._note_identifier(place, value)

    def _note_comment(self, places: Offsets) -> None:
        if self._comment is None and len(places):
            self._comment = int(places[0])

    def _note_drops(self, words: NDArray[np.uint32], order: str, places: Offsets) -> None:
        counts = _read_wide(words, order, places)
        if counts.any():
            self._first_drop = self._first_drop or int(places[np.flatnonzero(counts)[0]])
            self._dropped += sum(counts.tolist())  # may be more than 64 bits hold

    def _note_identifier(self, place: int, value: int) -> None:
        if self._latest is not None:
            step = value - self._latest
            self._counts_on &= step >= 0
            if step > 1:
                self._first_gap = self._first_gap or place
                self._missing += step - 1
        self._latest = value

    def list_told(self) -> list[tuple[int, str]]:
        """Say what the options tell of packets that are not in the file, each at its byte."""
        found = []
        if self._comment is not None:
            why = "a packet has a comment: a program wrote the file again after it was captured"
            found.append((self._comment, why))
        if self._dropped:
            why = f"{self._dropped} packets were dropped before others, by the file's own count"
            found.append((self._first_drop, why))
        if self._missing and self._counts_on:
            why = f"the file's numbers of packets leave out {self._missing}"
            found.append((self._first_gap, why))
        return found


def _read_wide(words: NDArray[np.uint32], order: str, places: Offsets) -> NDArray[np.uint64]:
    """Read the numbers of 64 bits that options at some places have."""
    first, second = words[places + 4].astype(np.uint64), words[places + 8].astype(np.uint64)
    low, high = (first, second) if order == "<" else (second, first)
    return high << np.uint64(32) | low
