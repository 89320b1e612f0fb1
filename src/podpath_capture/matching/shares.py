"""Captures with more packets than are matched at once, parted into shares that are matched one
after the other.

A share has all packets of some connections, at all points, and the first and the last packet of
each device, by which it is known when that was captured. Flows that may be one connection come
into the same share: those with a packet in common, whatever NAT made of their ends, and those with
equal ends. Which packets are in common is told by loose keys, some of the keys at a time, so that
what is held at once is a share, and five bytes of each packet. Connections with one server stand
together, as far as that goes: they witness for each other which way they go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import begins, distinct
from podpath_capture.columns import (
    CUT,
    ELSEWHERE,
    Arps,
    PacketColumns,
    Packets,
    Quotes,
    join_rows,
)
from podpath_capture.flows.flows import Flows
from podpath_capture.matching.identity import (
    DIGESTED,
    Keys,
    digest_payloads,
    digest_width,
    make_keys,
    mix,
    without_numbers,
)
from podpath_capture.points import CapturedFile, name_devices
from podpath_capture.reading.narrow import Store, decode_rows

Rows = NDArray[np.int64]
Roots = NDArray[np.int64]
SHARE = 1_000_000
"""Packets that are matched at once, of all captures together, where connections let them."""
MOST = 4_000_000
"""Packets of connections that cannot be parted, up to which they are matched."""
COMMON = 64
"""Packets with one key, above which it tells nothing: many send the same."""
SLAB = 1 << 18


class LongFile(NamedTuple):
    """A capture with all of its packets."""

    file: CapturedFile
    """Its `capture` need not hold more than a few of its packets."""
    columns: PacketColumns
    """Of all packets, those that are kept of long captures at least."""
    addresses: Sequence[int]
    """The IPv6 addresses of their numbers."""
    flows: Flows


class Shares:
    """Which connections are matched together."""

    def __init__(self, files: Sequence[LongFile], store: Store) -> None:
        """Part captures; keys go into the store, which keeps them elsewhere than in memory."""
        self._files = files
        self._bounds = np.cumsum([0, *(len(each.flows) for each in files)])
        sizes = np.concatenate([_count_packets(each.flows) for each in files])
        roots = connect(len(sizes), _pair_ends(files, self._bounds))
        for pairs in _pair_packets(files, self._bounds, store):
            roots = connect(len(sizes), pairs, roots)
        self._share, self.left_out = _fill(roots, sizes, _name_servers(files))
        self._devices = [_look_at_devices(each.columns) for each in files]

    def __len__(self) -> int:
        """Count the shares."""
        return int(self._share.max(initial=-1)) + 1

    def take(self, number: int) -> tuple[CapturedFile, ...]:
        """Return the captures that have packets of a share, with these alone."""
        shown = (self._cut_out(at, number) for at in range(len(self._files)))
        return tuple(one for one in shown if one is not None)

    def _cut_out(self, at: int, number: int) -> CapturedFile | None:
        """Return what one capture has of a share; None where that is nothing."""
        long = self._files[at]
        mine = self._share[self._bounds[at] : self._bounds[at + 1]] == number
        wanted = np.append(mine, np.False_)  # the last is what is of no flow
        mine = np.flatnonzero(wanted[long.flows.number])
        if not len(mine):
            return None
        devices = self._devices[at]
        edges = np.array(sorted({*devices.first.values(), *devices.last.values()}), np.int64)
        rows = distinct(np.concatenate((mine, edges)))
        packets = _read_rows(long, rows)
        packets.columns.broken[rows.searchsorted(np.setdiff1d(edges, mine))] = ELSEWHERE
        capture = replace(long.file.capture, packets=packets)
        return replace(long.file, capture=capture, rows=rows, cut=devices.cut)


def connect(count: int, pairs: Roots, known: Roots | None = None) -> Roots:
    """Return for each of `count` things the first one that it hangs together with, by pairs of
    things; `known` is what was found of others.
    """
    roots = np.arange(count) if known is None else known.copy()
    one, other = pairs
    while True:
        low = np.minimum(roots[one], roots[other])
        high = np.maximum(roots[one], roots[other])
        apart = low != high
        if not apart.any():
            return roots
        np.minimum.at(roots, high[apart], low[apart])
        while (roots[roots] != roots).any():
            roots = roots[roots]


def _count_packets(flows: Flows) -> Rows:
    counts = np.zeros(len(flows) + 1, np.int64)
    for start in range(0, len(flows.number), SLAB):
        some = flows.number[start : start + SLAB] + np.int32(1)
        counts += np.bincount(some, minlength=len(counts))
    return counts[1:]


class _Devices(NamedTuple):
    """What is known of each device of a capture, by its number."""

    first: dict[int, int]
    """The row of its first packet, by time."""
    last: dict[int, int]
    cut: dict[int, int]
    """Packets of which too little was captured."""


def _look_at_devices(columns: PacketColumns) -> _Devices:
    found = _Devices({}, {}, {})
    for start in range(0, len(columns), SLAB):
        some = _take(columns, slice(start, start + SLAB))
        devices = name_devices(some) >> 2
        for device in distinct(devices).tolist():
            here = np.flatnonzero(devices == device)
            times = some.time[here]
            first, last = (int(here[at]) + start for at in (times.argmin(), times.argmax()))
            known = found.first.setdefault(device, first), found.last.setdefault(device, last)
            if columns.time[first] < columns.time[known[0]]:
                found.first[device] = first
            if columns.time[last] > columns.time[known[1]]:
                found.last[device] = last
            cut = int((some.broken[here] == CUT).sum())
            found.cut[device] = found.cut.get(device, 0) + cut
    return found


def _pair_ends(files: Sequence[LongFile], bounds: Rows) -> Roots:
    """Pair flows between equal ends."""
    words = np.concatenate([_name_ends(each, files) for each in files]).astype(np.uint64)
    return _pair_equal(words, np.arange(int(bounds[-1])), most=len(words))


def _name_ends(long: LongFile, files: Sequence[LongFile]) -> Keys:
    """Return for each flow a number of its protocol and of its two ends, whichever speaks first."""
    source, target = (_name_end(long, files, end) for end in (("src", "sport"), ("dst", "dport")))
    return mix(source) + mix(target) + long.columns.protocol[long.flows.first]


def _name_end(long: LongFile, files: Sequence[LongFile], names: tuple[str, str]) -> Keys:
    """Return for each flow a number of one end of its first packet."""
    first = long.flows.first
    values = getattr(long.columns, names[0])[first].astype(np.uint64)
    six = long.columns.version[first] == 6
    if six.any():
        known = dict.fromkeys(address for each in files for address in each.addresses)
        table = dict(zip(known, range(len(known)), strict=True))
        numbers = np.array([table[address] for address in long.addresses], np.uint64)
        values[six] = numbers[values[six].astype(np.int64)] | np.uint64(1 << 40)
    words: Keys = values << np.uint64(16) | getattr(long.columns, names[1])[first]
    return words


def _name_servers(files: Sequence[LongFile]) -> Keys:
    """Return for each flow a number of whom its first packet goes to."""
    return np.concatenate([_name_end(each, files, ("dst", "dport")) for each in files])


def _pair_packets(files: Sequence[LongFile], bounds: Rows, store: Store) -> Iterator[Roots]:
    """Yield pairs of flows that have a packet in common, of some keys after the others."""
    width = min(_show_width(each) for each in files)
    for at, long in enumerate(files):
        _store_keys(long, width, store, str(at))
    keys = [np.frombuffer(store.view(str(at)), np.uint64) for at in range(len(files))]
    parts = np.uint64(sum(map(len, keys)) // SHARE + 1)
    for part in range(int(parts)):
        words, numbers = [], []
        for at, (mine, long) in enumerate(zip(keys, files, strict=True)):
            rows = _find_part(mine, long.flows, parts, part)
            words.append(mine[rows])
            numbers.append(long.flows.number[rows] + bounds[at])
        yield _pair_equal(np.concatenate(words), np.concatenate(numbers), most=COMMON)


def _find_part(keys: Keys, flows: Flows, parts: np.uint64, part: int) -> Rows:
    """Return the packets of flows whose key belongs to one of the parts."""
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(keys), SLAB):
        slab = slice(start, start + SLAB)
        mine = (keys[slab] >> np.uint64(32)) % parts == part
        found.append(np.flatnonzero(mine & (flows.number[slab] >= 0)) + start)
    return np.concatenate(found)


def _show_width(long: LongFile) -> int:
    """Say how many bytes of payload all packets of a capture show that have no numbers."""
    width = DIGESTED
    for start in range(0, len(long.columns), SLAB):
        some = _take(long.columns, slice(start, start + SLAB))
        width = min(width, digest_width([(some, long.file.data, without_numbers(some))]))
    return width


def _store_keys(long: LongFile, width: int, store: Store, name: str) -> None:
    """Keep the loose key of each packet."""
    for start in range(0, len(long.columns), SLAB):
        some = _take(long.columns, slice(start, start + SLAB))
        digest = None
        if width and long.file.data is not None:
            digest = digest_payloads(some, long.file.data, width, without_numbers(some))
        keys = make_keys(some, digest, identified=False)
        store.append(name, keys.view(np.uint8).data)


def _pair_equal(words: Keys, numbers: Rows, most: int) -> Roots:
    """Pair what stands beside an equal word, unless more than `most` do."""
    order = np.argsort(words, kind="stable")
    words, numbers = words[order], numbers[order]
    first = begins(words)
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(words))
    told = np.repeat(sizes <= most, sizes)
    second = np.flatnonzero(~first & told)
    one, other = numbers[second - 1], numbers[second]
    apart = one != other
    return np.stack((one[apart], other[apart]))


def _fill(roots: Roots, sizes: Rows, servers: Keys) -> tuple[Rows, int]:
    """Return for each flow its share, -1 where it has none, and how many packets have none."""
    heads = distinct(roots)
    counts = np.bincount(roots, sizes, minlength=len(roots)).astype(np.int64)[heads]
    order = heads[np.argsort(servers[heads], kind="stable")]
    by_head = dict(zip(heads.tolist(), counts.tolist(), strict=True))
    share_of = np.full(len(roots), -1, np.int64)
    share, filled, left_out = 0, 0, 0
    for head in order.tolist():
        size = by_head[head]
        if size > MOST:
            left_out += size
            continue
        if filled and filled + size > SHARE:
            share, filled = share + 1, 0
        share_of[head] = share
        filled += size
    return share_of[roots], left_out


def _read_rows(long: LongFile, rows: Rows) -> Packets:
    """Return all columns of some packets: from the file, where not all are held."""
    capture = long.file.capture
    if len(capture.packets) < len(long.columns) and long.file.data is not None:
        return decode_rows(long.file.data, long.columns, list(capture.interfaces), rows)
    return Packets(
        columns=_take(capture.packets.columns, rows),
        arps=Arps(**join_rows(Arps, [])),
        quotes=Quotes(**join_rows(Quotes, [])),
        addresses=capture.packets.addresses,
    )


def _take(columns: PacketColumns, rows: slice | Rows) -> PacketColumns:
    return PacketColumns(
        **{field.name: getattr(columns, field.name)[rows] for field in fields(columns)}
    )
