"""The packets of all captures one behind the other: the columns that matching needs, and the way
back to file and number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.sightings import FiveTuple, SeenPacket, Tunnel
from podpath.net.addresses import Address
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.matching.identity import (
    Keys,
    Rows,
    digest_payloads,
    digest_width,
    group_equal,
    has_identification,
    make_both_keys,
    make_keys,
    without_numbers,
)
from podpath_capture.points import CapturedFile, Numbered, Point, number_points


class Joined:
    """All packets of a matching, numbered through. Local to the matching: what leaves it are plain
    values.
    """

    def __init__(self, files: Sequence[CapturedFile], flows: Sequence[Flows] | None = None) -> None:
        """Put the captures behind each other; `flows` where somebody numbered them already."""
        self.files = tuple(files)
        self.columns: tuple[PacketColumns, ...] = tuple(
            file.capture.packets.columns for file in files
        )
        self.starts = np.cumsum([0, *(len(columns) for columns in self.columns)])
        """For each file the number of its first packet; at the end the number of all."""
        self._known: dict[str, NDArray[Any]] = {}
        numbered: Numbered = number_points(files)
        self.points: tuple[Point, ...] = numbered.points
        self.device = np.array(numbered.device, np.int64)
        self.point: NDArray[np.int16] = _concatenate(numbered.places, np.int16)
        if flows is None:
            found = [number_flows(columns) for columns in self.columns]
        else:
            found = list(flows)
        self.flow: NDArray[np.int32] = self._join_flows(found)
        """For each packet its flow, over all files; -1 for none."""
        self.forward: NDArray[np.bool_] = _concatenate([each.forward for each in found], np.bool_)
        firsts = [each.first + start for each, start in zip(found, self.starts, strict=False)]
        self.first_of_flow: Rows = _concatenate(firsts, np.int64)

    def _join_flows(self, flows: Sequence[Flows]) -> NDArray[np.int32]:
        """Renumber flows; of fragments, which are put together and cut anew on the way, nothing is
        matched.
        """
        total = 0
        joined = np.empty(len(self), np.int32)
        for at, (each, columns) in enumerate(zip(flows, self.columns, strict=True)):
            part = joined[self.starts[at] : self.starts[at + 1]]
            np.add(each.number, np.int32(total), out=part)
            part[
                np.flatnonzero((each.number < 0) | (columns.fragment & np.uint16(0x2000) != 0))
            ] = -1
            total += len(each)
        return joined

    def __len__(self) -> int:
        """Count the packets."""
        return int(self.starts[-1])

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of all packets."""
        if name not in self._known:
            self._known[name] = _concatenate(
                [getattr(columns, name) for columns in self.columns], np.int64
            )
        return self._known[name]

    @cached_property
    def _digests(self) -> list[Keys | None]:
        every = [
            (columns, file.data, without_numbers(columns))
            for columns, file in zip(self.columns, self.files, strict=True)
        ]
        width = digest_width(every)
        digests: list[Keys | None] = []
        for columns, data, rows in every:
            if data is not None and width:
                digests.append(digest_payloads(columns, data, width, rows))
            else:
                digests.append(None)
        return digests

    @property
    def keys(self) -> Keys:
        """The packets' keys, as strict as all captures allow."""
        if self._identified:
            return self._both_keys[0]
        return self._both_keys[1]

    @property
    def loose_keys(self) -> Keys:
        """The packets' keys without IP identification and window."""
        return self._both_keys[1]

    @cached_property
    def _identified(self) -> bool:
        return all(has_identification(columns) for columns in self.columns)

    @cached_property
    def _both_keys(self) -> tuple[Keys, Keys]:
        strict, loose = np.empty(len(self), np.uint64), np.empty(len(self), np.uint64)
        for columns, digest, start in zip(self.columns, self._digests, self.starts, strict=False):
            mine = slice(start, start + len(columns))
            make_both_keys(columns, digest, strict[mine], loose[mine])
        return strict, loose

    @cached_property
    def same(self) -> NDArray[np.int32]:
        """For each packet the first of all captures with the same key."""
        return group_equal(self.keys)

    def group(self, rows: Rows) -> NDArray[np.int32]:
        """Return for each of some packets the place of the first of them with the same key, without
        looking at all others.
        """
        bounds = np.searchsorted(rows, self.starts)
        parts = []
        for at, (columns, digest) in enumerate(zip(self.columns, self._digests, strict=True)):
            own = rows[bounds[at] : bounds[at + 1]] - self.starts[at]
            parts.append(make_keys(columns, digest, own, identified=self._identified))
        return group_equal(_concatenate(parts, np.uint64))

    def place(self, row: int) -> tuple[int, int]:
        """Return the file of a packet, and its row in it."""
        file = int(np.searchsorted(self.starts, row, side="right")) - 1
        return file, row - int(self.starts[file])

    def sighting(self, row: int) -> SeenPacket:
        """Name a packet."""
        number, at = self.place(row)
        file, time = self.files[number], int(self.columns[number].time[at])
        place = at if file.rows is None else int(file.rows[at])
        return SeenPacket(int(self.point[row]), file.name, place + 1, time)

    def ends(self, row: int) -> FiveTuple:
        """Say who speaks to whom in a packet."""
        file, at = self.place(row)
        columns = self.columns[file]
        src, dst = (
            self._address(file, int(columns.version[at]), int(end[at]))
            for end in (columns.src, columns.dst)
        )
        return FiveTuple(
            int(columns.protocol[at]), src, int(columns.sport[at]), dst, int(columns.dport[at])
        )

    def tunnel(self, row: int) -> Tunnel | None:
        """Say which tunnel a packet is in; None where it is in none."""
        file, at = self.place(row)
        columns = self.columns[file]
        if not columns.depth[at]:
            return None
        version = int(columns.outer_version[at])
        src, dst = (
            self._address(file, version, int(end[at]))
            for end in (columns.outer_src, columns.outer_dst)
        )
        return Tunnel(src, dst, int(columns.vni[at]))

    def _address(self, file: int, version: int, value: int) -> Address:
        if version == 4:
            return Address(4, value)
        return Address(6, self.files[file].capture.packets.addresses[value])


def _concatenate(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:  # noqa: ANN401 - a NumPy type
    if len(parts) == 1:
        return parts[0]
    if parts:
        return np.concatenate(parts)
    return np.zeros(0, kind)
