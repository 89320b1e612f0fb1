"""The first tier of identity: a number for each packet that NAT, masquerade, routers, tunnels and
new MACs leave alone.

Of TCP it is made of flags, length, numbers, timestamps, window and IP identification; of all else
of identification, length and the first bytes that it carries. Addresses, ports, TTL, checksums and
all outer headers are left out. Two identifications: the strict one has the IP id in it, the loose
one neither that nor the window, for boxes that rewrite them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, ICMP, ICMPV6, RST, SYN, TCP
from podpath_capture.arrays.segments import begins
from podpath_capture.columns import PacketColumns
from podpath_capture.files.index import Bytes

Keys = NDArray[np.uint64]
Rows = NDArray[np.int64]
DIGESTED = 64
"""Bytes of a payload that are looked at."""
CHUNK = 1 << 15
"""Packets that are mixed at once, so that all that is in work lies in the processor's cache."""
_ODD = tuple(
    np.uint64(word)
    for word in (
        0x9E3779B97F4A7C15,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0xD6E8FEB86659FD93,
        0xFF51AFD7ED558CCD,
    )
)
_SHOWN = (
    np.where(np.arange(DIGESTED) < np.arange(DIGESTED + 1)[:, None], 0xFF, 0)
    .astype(np.uint8)
    .view(np.uint64)
)
"""For each size of a payload which bits of its words belong to it."""
_KEPT_FLAGS = FIN | SYN | RST | ACK


def mix(words: Keys) -> Keys:
    """Spread each number over all bits, so that sums and cuts of it are as good as drawn."""
    out = words ^ (words >> np.uint64(33))
    out *= _ODD[4]
    out ^= out >> np.uint64(29)
    out *= _ODD[0]
    out ^= out >> np.uint64(32)
    return out


def make_keys(
    columns: PacketColumns,
    digest: Keys | None,
    some: Rows | None = None,
    *,
    identified: bool = True,
) -> Keys:
    """Return the key of each packet, or of `some`: with IP identification and window where
    `identified`.
    """
    count = len(columns) if some is None else len(some)
    keys = np.empty(count, np.uint64)
    for start in range(0, count, CHUNK):
        part = slice(start, start + CHUNK)
        rows = part if some is None else some[part]
        out = _mix_fields(columns, rows)
        keys[part] = _finish(_identify(columns, rows, out) if identified else out, digest, rows)
    return keys


def make_both_keys(columns: PacketColumns, digest: Keys | None, strict: Keys, loose: Keys) -> None:
    """Write the keys of all packets with identification and window, and without, in little more
    time than one of them takes.
    """
    for start in range(0, len(columns), CHUNK):
        rows = slice(start, start + CHUNK)
        out = _mix_fields(columns, rows)
        strict[rows] = _finish(_identify(columns, rows, out), digest, rows)
        loose[rows] = _finish(out, digest, rows)


def _mix_fields(columns: PacketColumns, rows: slice | Rows) -> Keys:
    """Mix what all keys are made of."""
    out = columns.seq[rows].astype(np.uint64) << np.uint64(32) | columns.ack[rows]
    out *= _ODD[0]
    out ^= out >> np.uint64(31)
    out += columns.tsval[rows].astype(np.uint64) << np.uint64(32) | columns.tsecr[rows]
    out *= _ODD[1]
    out ^= out >> np.uint64(30)
    kind = columns.protocol[rows].astype(np.uint64) << np.uint64(8) | columns.flags[
        rows
    ] & np.uint8(_KEPT_FLAGS)
    kind |= columns.icmp_type[rows].astype(np.uint64) << np.uint64(16)
    out += columns.payload[rows].astype(np.uint64) << np.uint64(32) | kind
    return out


def _identify(columns: PacketColumns, rows: slice | Rows, mixed: Keys) -> Keys:
    out = mixed * _ODD[2]
    out += columns.ident[rows].astype(np.uint64) << np.uint64(16) | columns.window[rows]
    return out


def _finish(mixed: Keys, digest: Keys | None, rows: slice | Rows) -> Keys:
    return mix(mixed if digest is None else mixed + digest[rows])


def has_identification(columns: PacketColumns) -> bool:
    """Tell whether the capture shows IP identifications: printed ones without `-v` do not. IPv6 has
    none to show.
    """
    four = columns.version == 4
    return not four.any() or bool((four & (columns.ident != 0)).any())


def digest_width(files: Sequence[tuple[PacketColumns, Bytes | None, Rows]]) -> int:
    """Say how many bytes of their payloads the packets `without_numbers` of all captures show: 0
    where one shows none.
    """
    width = DIGESTED
    for columns, data, rows in files:
        if data is None:
            return 0
        shown = columns.caplen[rows].astype(np.int64) - columns.data_at[rows]
        short = shown < np.minimum(columns.payload[rows], width)
        if short.any():
            width = max(int(shown[short].min()), 0)
    return width


def without_numbers(columns: PacketColumns) -> Rows:
    """Return the packets that are known by what they carry: all but TCP, and ICMP errors, which
    quote what NAT rewrites.
    """
    rows = np.flatnonzero((columns.protocol != TCP) & (columns.version > 0))
    protocol = columns.protocol.take(rows)
    icmp = (protocol == ICMP) | (protocol == ICMPV6)
    if icmp.any():
        rows = rows[~icmp | np.isin(columns.icmp_type[rows], (8, 0, 128, 129))]
    return rows


def digest_payloads(columns: PacketColumns, data: Bytes, width: int, rows: Rows) -> Keys:
    """Return a number made of the first bytes that each of some packets carries, 0 for all
    others.
    """
    digests = np.zeros(len(columns), np.uint64)
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        size = np.minimum(columns.payload[some].astype(np.int64), width)
        words = _gather(data, columns.offset[some] + columns.data_at[some]).view(np.uint64)
        words &= _SHOWN[size]
        out = size.astype(np.uint64)
        for column in range(words.shape[1]):
            out = (out ^ words[:, column]) * _ODD[column % 4]
            out ^= out >> np.uint64(29)
        digests[some] = mix(out)
    return digests


def _gather(data: Bytes, at: Rows) -> Bytes:
    """Copy the bytes at each offset; those near the end of the file are read one by one."""
    last = len(data) - DIGESTED
    if last < 0 or (at > last).any():
        places = np.minimum(at[:, None] + np.arange(DIGESTED), len(data) - 1)
        return np.ascontiguousarray(data[places])
    view: NDArray[Any] = np.ndarray((last + 1,), np.dtype(("V", DIGESTED)), data.data, 0, (1,))
    return view[at].view(np.uint8).reshape(-1, DIGESTED)


def group_equal(keys: Keys) -> NDArray[np.int32]:
    """Return for each packet the first one with the same key."""
    count = len(keys)
    same = np.arange(count, dtype=np.int32)
    if not count:
        return same
    bits = np.uint64(count.bit_length())
    low = (np.uint64(1) << bits) - np.uint64(1)
    # sorting words that hold both is far faster than sorting places by words
    order = np.sort(keys & ~low | np.arange(count, dtype=np.uint64))
    rows = (order & low).astype(np.int32)
    order >>= bits
    first = begins(order)
    firsts = rows[first]
    same[rows] = np.repeat(firsts, np.diff(np.flatnonzero(first), append=count))
    wrong = np.flatnonzero(keys[same] != keys)  # two keys that differ in their low bits only
    if len(wrong):
        _, at, place = np.unique(keys[wrong], return_index=True, return_inverse=True)
        same[wrong] = wrong[at][place]
    return same
