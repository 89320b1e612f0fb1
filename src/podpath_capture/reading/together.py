"""A capture read by several workers, each a stretch of the file: they give what one would give, or
nothing.

Each begins at a place where a record plausibly begins, and the walks count only where each lands
exactly on the beginning of the next one, as with the lanes of one walk. Then all know how many
packets stand before their own, and write them into columns that they share.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.workers import AllGather, LostError, Workers
from podpath_capture.columns import TYPES, Arps, PacketColumns, Packets, Quotes, join_rows
from podpath_capture.decoding.decode import INDEXED, fill_columns, renumber
from podpath_capture.decoding.layers import Output
from podpath_capture.files.file import index_packets
from podpath_capture.files.framing import Framing
from podpath_capture.files.index import Bytes, CaptureDamage, Contents, Index, Interface, join
from podpath_capture.files.pcap import (
    HEADER,
    Stretch,
    fill_index,
    is_pcap,
    parse_header,
    walk_stretch,
)
from podpath_capture.files.walk import find_starts

Arrays = dict[str, NDArray[Any]]
PAGE = 4096


class Share(NamedTuple):
    """What a worker gives besides the columns that it wrote."""

    total: int
    """Packets of all workers."""
    written: set[str]
    damages: list[CaptureDamage]
    arps: list[Arrays]
    quotes: list[Arrays]
    table: list[int]
    """The IPv6 addresses of all workers."""


class FoundPackets(NamedTuple):
    """The packets that a worker found, and where it began and ended in the file."""

    start: int
    landing: int
    packets: int
    damages: list[CaptureDamage]
    fill: Callable[[Arrays], None]
    """Writes what is known of the packets before they are decoded into columns of zeros."""


class TooManyPacketsError(Exception):
    """A capture has more packets than are to be held."""


Look = Callable[[int], FoundPackets]
"""Finds the packets of the worker of a number."""


def read_together(
    data: Bytes, contents: Contents, workers: Workers, most: int | None = None
) -> Packets | None:
    """Read all packets; None where the workers' stretches do not meet, or one of them was lost.
    `TooManyPacketsError`, before any is decoded, where there are more than `most`.
    """
    look = _cut(data, contents, workers)
    if look is None:
        return None
    try:
        columns = _columns(workers, len(data) // 12)
        shares = workers.run(
            lambda number, meet: _read(
                data, contents.interfaces, columns, (number, look(number)), (meet, most)
            )
        )
    except LostError:
        return None
    whole = [share for share in shares if share is not None]
    if len(whole) < len(shares):
        return None
    if most is not None and whole[0].total > most:
        raise TooManyPacketsError
    contents.damages += [damage for share in whole for damage in share.damages]
    count, written = whole[0].total, {*INDEXED}.union(*(share.written for share in whole))
    kept = {
        name: columns[name][:count] if name in written else np.zeros(count, kind)
        for name, kind in TYPES.items()
    }
    return Packets(
        columns=PacketColumns(**kept),
        arps=Arps(**join_rows(Arps, [rows for share in whole for rows in share.arps])),
        quotes=Quotes(**join_rows(Quotes, [rows for share in whole for rows in share.quotes])),
        addresses=tuple(whole[0].table),
    )


def _columns(workers: Workers, most: int) -> Arrays:
    """Lay out columns for more packets than a file can have; only what is written takes memory."""
    starts, size = {}, 0
    for name, kind in TYPES.items():
        starts[name] = size
        size += -(-most * np.dtype(kind).itemsize // PAGE) * PAGE
    memory = workers.share(size)
    return {name: np.frombuffer(memory, kind, most, starts[name]) for name, kind in TYPES.items()}


def _cut(data: Bytes, contents: Contents, workers: Workers) -> Look | None:
    """Give each worker its packets: of pcap it finds them itself, of pcapng all were found before.
    None where that is no use.
    """
    if not is_pcap(bytes(data[:4])):
        index = join([*index_packets(data, contents)])
        cuts = np.linspace(0, len(index), workers.size + 1).astype(int).tolist()
        return lambda number: _take(index, number, (cuts[number], cuts[number + 1]))
    framing = parse_header(data, contents)
    if framing is None:
        return None
    starts = [*find_starts(data, framing, HEADER, len(data), workers.size).tolist(), len(data)]
    if len(starts) <= workers.size:
        return None
    return lambda number: _walk(data, framing, (starts[number], starts[number + 1]), workers)


def _take(index: Index, number: int, bounds: tuple[int, int]) -> FoundPackets:
    def fill(arrays: Arrays) -> None:
        for name in INDEXED:
            arrays[name][:] = getattr(index, name)[bounds[0] : bounds[1]]

    return FoundPackets(number, number + 1, bounds[1] - bounds[0], [], fill)


def _walk(data: Bytes, framing: Framing, bounds: tuple[int, int], workers: Workers) -> FoundPackets:
    stretch, contents = Stretch(*bounds), Contents()
    workers.load(*bounds)
    parts = [*walk_stretch(data, framing, stretch, contents)]

    def fill(arrays: Arrays) -> None:
        start = 0
        while parts:
            walked = parts.pop(0)
            stop = start + len(walked.places)
            fill_index(data, framing, walked, {name: arrays[name][start:stop] for name in INDEXED})
            start = stop

    return FoundPackets(
        bounds[0],
        stretch.place,
        sum(len(walked.places) for walked in parts),
        contents.damages,
        fill,
    )


def _read(
    data: Bytes,
    interfaces: list[Interface],
    columns: Arrays,
    mine: tuple[int, FoundPackets],
    together: tuple[AllGather, int | None],
) -> Share | None:
    """Read a worker's packets into its part of the columns, unless all have too many; None where
    what the workers found does not fit together.
    """
    (number, found), (meet, most) = mine, together
    met = meet((found.start, found.landing, found.packets))
    if any(one[1] != other[0] for one, other in pairwise(met)):
        return None
    total = sum(count for _, _, count in met)
    if most is not None and total > most:
        return Share(total, set(), [], [], [], [])
    first = sum(count for _, _, count in met[:number])
    arrays = {name: column[first : first + found.packets] for name, column in columns.items()}
    found.fill(arrays)
    out = Output(data, arrays)
    fill_columns(out, interfaces)
    table = sorted({address for addresses in meet(out.addresses.values()) for address in addresses})
    renumber(out, table)
    for rows in (*out.arps, *out.quotes):
        rows["row"] = rows["row"] + first
    return Share(total, out.written, found.damages, out.arps, out.quotes, table)
