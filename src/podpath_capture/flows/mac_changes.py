"""Frames at which it changes which MAC an address speaks with, or is spoken to with: of a capture
in one piece, or slab by slab.

Of each address that has several MACs, or is reached by a foreign one, the first and the last frame
are given, those with which its MAC turns, and the ones before. That can be told of slabs one after
the other: what is left out of one changes nothing later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import begins, distinct
from podpath_capture.columns import PacketColumns

Rows = NDArray[np.int64]
Slabs = Callable[[], Iterable[tuple[int, PacketColumns]]]
"""Gives a capture's packets, some at a time, with the row of the first; it is asked more than
once.
"""
SLAB, SLOTS = 1 << 15, 16
"""Packets that are compared at once, and the bits of a slot's number: what is worked on stays in
the processor's cache.
"""
_ODD = np.uint64(0x9E3779B97F4A7C15)


class _Pairs(NamedTuple):
    """Addresses, each with a MAC."""

    address: NDArray[np.uint32]
    mac: NDArray[np.uint64]


class _Frames(NamedTuple):
    """Frames of some addresses, each with its row in the capture."""

    address: NDArray[np.uint32]
    mac: NDArray[np.uint64]
    row: Rows

    def pick(self, which: Rows | NDArray[np.bool_]) -> _Frames:
        """Return some of them."""
        return _Frames(self.address[which], self.mac[which], self.row[which])

    def join(self, later: _Frames) -> _Frames:
        """Add those of a later slab."""
        return _Frames(
            np.concatenate((self.address, later.address)),
            np.concatenate((self.mac, later.mac)),
            np.concatenate((self.row, later.row)),
        )


def find_changing_macs(slabs: Slabs, most: int) -> Rows:
    """Return the rows, in order; of each address at most `most` of the first, and the last."""
    odd = _find_odd(slabs)
    if not len(odd):
        return np.zeros(0, np.int64)
    kept = [_no_frames(), _no_frames()]
    for start, columns in slabs():
        plain = np.flatnonzero(_tell_plain(columns))
        for side, (addresses, macs) in enumerate(
            ((columns.src, columns.smac), (columns.dst, columns.dmac))
        ):
            mine = plain[np.isin(addresses[plain], odd)]
            frames = _Frames(addresses[mine], macs[mine], mine + start)
            kept[side] = _keep_first(
                _keep_turns(kept[side].join(frames)), most + 1
            )  # one more shows why the last of them counts
    return distinct(np.concatenate([_keep_first(frames, most).row for frames in kept]))


def _no_frames() -> _Frames:
    return _Frames(np.zeros(0, np.uint32), np.zeros(0, np.uint64), np.zeros(0, np.int64))


def _tell_plain(columns: PacketColumns, some: slice = slice(None)) -> NDArray[np.bool_]:
    """Tell which rows are of IPv4 packets in Ethernet frames and no tunnel."""
    plain: NDArray[np.bool_] = columns.version[some] == 4
    plain &= columns.depth[some] == 0
    plain &= columns.smac[some] != 0
    plain &= columns.dmac[some] != 0
    return plain


def _select_differing(columns: PacketColumns) -> Rows:
    """Return the same rows but those that have both addresses and both MACs of another that stays:
    most of them, without sorting any. Those that share a slot with others than their like stay.
    """
    found = [np.zeros(0, np.int64)]
    last = np.zeros(1 << SLOTS, np.int64)
    for start in range(0, len(columns), SLAB):
        slab = slice(start, start + SLAB)
        plain = _tell_plain(columns, slab)
        place = np.flatnonzero(plain)
        ends = [values[slab] for values in (columns.src, columns.dst, columns.smac, columns.dmac)]
        if len(place) < len(plain):
            ends = [values.take(place) for values in ends]
        src, dst, smac, dmac = ends
        digest = src.astype(np.uint64)
        digest <<= np.uint64(32)
        digest |= dst
        digest *= _ODD
        macs = dmac << np.uint64(16)
        macs ^= smac
        macs *= _ODD
        digest ^= macs
        digest >>= np.uint64(64 - SLOTS)
        slot = digest.view(np.int64)
        here = np.arange(len(place))
        last[slot] = here
        other = last.take(slot)
        alike = other != here
        for values in ends:
            alike &= values.take(other) == values
        found.append(place[~alike] + start)
    return np.concatenate(found)


def _find_odd(slabs: Slabs) -> NDArray[np.uint32]:
    """Return the addresses that have several MACs, or are reached by several that are no
    group's.
    """
    sources, targets = [], []
    for _, columns in slabs():
        plain = _select_differing(columns)
        sources.append(_distinct(columns.src[plain], columns.smac[plain]))
        targets.append(_distinct(columns.dst[plain], columns.dmac[plain]))
    if not sources:
        return np.zeros(0, np.uint32)
    several = []
    for parts, groups in ((sources, True), (targets, False)):
        pairs = parts[0] if len(parts) == 1 else _join_pairs(parts)
        group = (pairs.mac >> np.uint64(40)) & np.uint64(1) == 1
        address = pairs.address if groups else pairs.address[~group]
        several.append(address[1:][address[1:] == address[:-1]])
    return distinct(np.concatenate(several))


def _join_pairs(parts: Sequence[_Pairs]) -> _Pairs:
    """Return the different pairs of several slabs."""
    return _distinct(
        np.concatenate([part.address for part in parts]),
        np.concatenate([part.mac for part in parts]),
    )


def _distinct(addresses: NDArray[np.uint32], macs: NDArray[np.uint64]) -> _Pairs:
    """Return the different pairs, in the order of the addresses."""
    known = distinct(macs[begins(macs)])  # those in a row are mostly the same
    words = distinct(
        addresses.astype(np.uint64) << np.uint64(32) | known.searchsorted(macs).astype(np.uint64)
    )
    return _Pairs(
        (words >> np.uint64(32)).astype(np.uint32),
        known[(words & np.uint64(0xFFFFFFFF)).astype(np.int64)],
    )


def _keep_turns(frames: _Frames) -> _Frames:
    """Keep the frames of each address at which its MAC turns, the ones before, the first one and
    the last.
    """
    if not len(frames.row):
        return frames
    frames = frames.pick(np.argsort(frames.address, kind="stable"))
    keep = begins(frames.address.astype(np.int64))
    keep[1:] |= frames.mac[1:] != frames.mac[:-1]
    keep[:-1] |= keep[1:]
    keep[-1] = True
    return frames.pick(keep)


def _keep_first(frames: _Frames, most: int) -> _Frames:
    """Keep so many of the first frames of each address, and the last; those of an address stand
    together.
    """
    if not len(frames.row):
        return frames
    starts = np.flatnonzero(begins(frames.address.astype(np.int64)))
    counts = np.diff(np.append(starts, len(frames.row)))
    few = np.arange(len(frames.row)) - np.repeat(starts, counts) < most
    few[starts + counts - 1] = True
    return frames.pick(few)
