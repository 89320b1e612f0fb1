"""How records follow each other in a file: each begins with its length, so that only a walk finds
the next one.

Two rules decide. A record is *bounded* when its length leads to a place within the file: a walk
goes on. A place is *plausible* when what stands there looks like the head of a record in every
field: a walk may begin there, be it a lane's or after damage.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.files.index import Bytes, Offsets

PCAP, PCAPNG = "pcap", "pcapng"
LONGEST = 262_144
"""MAXIMUM_SNAPLEN of libpcap: no tool writes longer packets of a network."""
DAY = 86_400
BEFORE, AFTER = DAY, 45 * DAY
"""Seconds around a capture's first packet in which a time is plausible."""
HOPS = 4
"""Records that have to follow each other from a plausible place."""
BLOCK_TYPES = (1, 2, 3, 4, 5, 6, 9, 10, 0x0A0D0D0A)
"""Blocks of pcapng, as its draft numbers them: interface, packets, names, statistics, journal,
secrets, section.
"""


class Framing(NamedTuple):
    """The head of a record: where its length stands, and what is added to it."""

    kind: str
    order: str
    """`<` or `>`, as NumPy spells byte order."""
    head: int
    """Bytes that a record has at least."""
    length_at: int
    added: int
    """Bytes of a record that its length does not count."""
    limit: int
    """The greatest length."""
    step: int = 1
    """Records begin at multiples of it."""
    fraction: int = 1_000_000
    """Of pcap: parts of a second that a time counts in."""
    first_time: int = 0
    """Of pcap: the seconds of the first packet."""


def words(data: Bytes, order: str) -> NDArray[np.uint32]:
    """See the 32-bit word that begins at each byte."""
    return np.ndarray((max(len(data) - 3, 0),), np.dtype(f"{order}u4"), data.data, 0, (1,))


def heads(data: Bytes, order: str, places: Offsets, count: int) -> NDArray[np.uint32]:
    """Copy the first words of each record at once: the memory of each is waited for only once."""
    size = 4 * count
    view: NDArray[np.void] = np.ndarray(
        (max(len(data) - size + 1, 0),), np.dtype(("V", size)), data.data, 0, (1,)
    )
    if len(places):
        return view[places].view(np.dtype(f"{order}u4")).reshape(-1, count)
    return np.zeros((0, count), np.uint32)


def bounded(data: Bytes, framing: Framing, places: Offsets) -> NDArray[np.bool_]:
    """Tell at which places a record stands whose length leads on within the file."""
    size = len(data)
    whole = places <= size - framing.head
    if size < framing.head:
        return whole
    inside = np.minimum(places, size - framing.head)
    view = words(data, framing.order)
    length = view[inside + framing.length_at].astype(np.int64)
    ends = inside + length + framing.added
    whole &= (length <= framing.limit) & (ends <= size)
    if framing.kind == PCAPNG:
        whole &= (length >= 12) & (length % 4 == 0)
        trailer = np.clip(ends - 4, 0, size - 4)
        whole &= view[trailer] == length
    return whole


def plausible(data: Bytes, framing: Framing, places: Offsets) -> NDArray[np.bool_]:
    """Tell at which places the head of a record stands, as far as its own fields show."""
    found = bounded(data, framing, places)
    if not found.any():
        return found
    inside = np.minimum(places, len(data) - framing.head)
    view = words(data, framing.order)
    if framing.kind == PCAPNG:
        return found & np.isin(view[inside], BLOCK_TYPES)
    caplen, wirelen = view[inside + 8], view[inside + 12]
    found &= (view[inside + 4] < framing.fraction) & (caplen <= wirelen) & (wirelen > 0)
    return found & in_window(view[inside], framing)


def in_window(seconds: NDArray[np.uint32], framing: Framing) -> NDArray[np.bool_]:
    """Tell which times lie around that of the first packet."""
    low = max(framing.first_time - BEFORE, 0)
    return (seconds - np.uint32(low)).astype(np.uint32, copy=False) < np.uint32(BEFORE + AFTER)


def chained(data: Bytes, framing: Framing, places: Offsets) -> Offsets:
    """Keep those places from which records follow each other for some hops, or up to the end of the
    file exactly.
    """
    size = len(data)
    current = places
    view = words(data, framing.order)
    for _ in range(HOPS + 1):
        at_end = current == size
        good = at_end | plausible(data, framing, current)
        places, current, at_end = places[good], current[good], at_end[good]
        if not len(places):
            break
        inside = np.minimum(current, size - framing.head)
        onward = current + view[inside + framing.length_at].astype(np.int64) + framing.added
        current = np.where(at_end, size, onward)
    return places
