"""Capture files to capture points: a file, one of its devices, and a direction where the link type
tells it.

A capture on `any` shows a packet once at each device that it passes; with SLL2 each device is a
point of its own, with the older cooked header only the two directions are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import first_of_each
from podpath_capture.columns import CUT, OUTGOING, PacketColumns
from podpath_capture.files.index import Bytes
from podpath_capture.reading.read import DecodedCapture

DIRECTIONS = ("", "in", "out")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedFile:
    """A capture and what is known of where it was taken. `match_captures` takes these."""

    name: str
    """As it is to be named in answers."""
    capture: DecodedCapture
    data: Bytes | None = None
    """The file's bytes, by which packets without sequence numbers (UDP, ICMP) are told apart; None
    for printed captures.
    """
    host: str = ""
    """Whose clock stamped it: files of one host are taken to have one clock. Empty: a clock of its
    own.
    """
    device: str = ""
    """The device it was taken on, where the file does not say."""
    devices: Mapping[int, str] = field(default_factory=dict)
    """Names of devices by their index, for captures on `any`."""
    dropped: int | None = None
    """Packets that tcpdump said the kernel dropped; None where only the file's own counters are
    known.
    """
    rows: NDArray[np.int64] | None = None
    """Where its packets stand in the whole capture, where it is a share of one."""
    cut: Mapping[int, int] | None = None
    """Packets of the whole capture of which too little was captured, by device, where this is a
    share of one.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where packets were captured."""

    number: int
    """Its place in `Matching.points`, by which sightings name it."""
    name: str
    """A name that no other point of the same matching has: `node1.pcap eth0 out`."""
    file: str
    device: str
    """Empty where nothing says."""
    direction: str
    """`in`, `out`, or empty where the link type does not say."""
    host: str
    """Whose clock stamped its packets: the file's name, where no host is known."""
    packets: int
    first: int
    """When the first packet was captured on its device, either direction: nanoseconds since the
    epoch, by its own clock.
    """
    last: int
    dropped: int
    """Packets that the kernel dropped there by its own count; 0 where nobody counted."""
    cut: int
    """Packets on its device of which too little was captured to know them."""
    unnamed: bool = False
    """True where only its index is known of its device."""


class Numbered(NamedTuple):
    """Points, and the point of each packet."""

    points: tuple[Point, ...]
    device: tuple[int, ...]
    """For each point the number of its device: both directions of one device are two points."""
    places: tuple[NDArray[np.int16], ...]
    """For each file the point of each of its packets."""


def number_points(files: Sequence[CapturedFile]) -> Numbered:
    """Find the points, in the order of the files, and in each of devices and directions as they
    first appear.
    """
    points: list[Point] = []
    devices: list[int] = []
    places = []
    for file in files:
        columns = file.capture.packets.columns
        words = name_devices(columns)
        if len(words) and (words == words[0]).all():  # one device, as most captures are
            places.append(np.full(len(columns), len(points), np.int16))
            devices.append(max(devices, default=-1) + 1)
            points.append(_point(file, int(words[0]), slice(None), len(points)))
            continue
        first = first_of_each(words)
        found = words[first]
        place = found.searchsorted(words)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int16)
        rank[order] = np.arange(len(order), dtype=np.int16)
        places.append((rank + np.int16(len(points)))[place])
        numbers: dict[int, int] = {}
        for at in order.tolist():
            word = int(found[at])
            devices.append(numbers.setdefault(word >> 2, max(devices, default=-1) + 1))
            point = _point(file, word, words >> 2 == word >> 2, len(points))
            points.append(replace(point, packets=int((words == word).sum())))
    return Numbered(tuple(_distinct(points)), tuple(devices), tuple(places))


def name_devices(columns: PacketColumns) -> NDArray[np.int64]:
    """Return a number for each packet that names its device and direction."""
    if not (columns.direction.any() or columns.ifindex.any() or columns.interface.any()):
        return np.broadcast_to(np.int64(0), len(columns))
    turn = np.where(columns.direction == 0, 0, np.where(columns.direction == OUTGOING, 2, 1))
    words: NDArray[np.int64] = (
        columns.ifindex.astype(np.int64) << 18 | columns.interface.astype(np.int64) << 2 | turn
    )
    return words


def _point(file: CapturedFile, word: int, here: NDArray[np.bool_] | slice, number: int) -> Point:
    """Describe a point by the word that names it and the packets of its device."""
    columns, interfaces = file.capture.packets.columns, file.capture.interfaces
    ifindex, interface, turn = word >> 18, word >> 2 & 0xFFFF, DIRECTIONS[word & 3]
    times = columns.time[here]
    known = interfaces[interface] if interface < len(interfaces) else None
    own_name, counted = (known.name, known.dropped) if known else ("", 0)
    device = own_name or file.device
    if ifindex:
        device = file.devices.get(ifindex, f"ifindex {ifindex}")
    dropped = counted if file.dropped is None else file.dropped
    return Point(
        number=number,
        name=" ".join(word for word in (file.name, device, turn) if word),
        file=file.name,
        device=device,
        direction=turn,
        host=file.host or file.name,
        packets=len(times),
        first=int(times.min()),
        last=int(times.max()),
        dropped=dropped or 0,
        unnamed=bool(ifindex) and ifindex not in file.devices,
        cut=(int((columns.broken[here] == CUT).sum()) if file.cut is None else file.cut[word >> 2]),
    )


def _distinct(points: Sequence[Point]) -> list[Point]:
    """Give a number to names that more than one point would have."""
    names = [point.name for point in points]
    distinct: list[Point] = []
    for point in points:
        if names.count(point.name) == 1:
            distinct.append(point)
            continue
        number = names[: point.number].count(point.name) + 1
        distinct.append(replace(point, name=f"{point.name} #{number}"))
    return distinct
