"""Where the packets of a capture stand: what a file's frame tells of each, before a byte of a
packet is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.files.packet_options import PacketNotes

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


class CaptureDamage(NamedTuple):
    """A place of a file that could not be read, and why."""

    offset: int
    """Byte of the file."""
    why: str
    """What was expected and what was seen instead, one line."""


@dataclass(slots=True, kw_only=True)
class Interface:
    """A device that a file says it was taken on. Mutable while the file is read: counters stand at
    its end.
    """

    link_type: int
    """As the LINKTYPE_ registry numbers it."""
    snaplen: int = 0
    name: str = ""
    order: str = "<"
    """The byte order of the section, in which LINKTYPE_NULL writes its family."""
    resolution: tuple[int, int] = (1000, 1)
    """Nanoseconds of a tick as a fraction (pcapng `if_tsresol`)."""
    shift: int = 0
    """Seconds to add (pcapng `if_tsoffset`)."""
    received: int | None = None
    """Packets that the device received while it was captured; None where the file does not say."""
    dropped: int | None = None
    """Packets that the kernel dropped because the capturing program was too slow; None where the
    file does not say.
    """
    filter: str = ""
    """The capture filter (pcapng `if_filter`)."""
    filter_unread: bool = False
    """Whether it has one that is no text."""
    counted: bool = False
    """Whether the file has statistics of it."""
    offset: int = 0
    """Byte of the file at which it is described."""


class FileSection(NamedTuple):
    """A section of a pcapng file."""

    offset: int
    """Byte of the file at which it begins."""
    first: int
    """Where its interfaces begin in the list of all."""
    application: str
    """What wrote it (pcapng `shb_userappl`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Where packets stand, as arrays of one length, in the order of the file."""

    offset: Offsets
    """Of the packet's first byte."""
    caplen: NDArray[np.uint32]
    wirelen: NDArray[np.uint32]
    time: NDArray[np.int64]
    """Nanoseconds since the epoch; 0 where the record has none (simple packet blocks)."""
    interface: NDArray[np.uint16]

    def __len__(self) -> int:
        """Count the packets."""
        return len(self.offset)


@dataclass(slots=True, kw_only=True)
class Contents:
    """What a file told besides its packets. Mutable while the file is read."""

    interfaces: list[Interface] = field(default_factory=list)
    damages: list[CaptureDamage] = field(default_factory=list)
    sections: list[FileSection] = field(default_factory=list)
    notes: PacketNotes = field(default_factory=PacketNotes)
    """What options of packets say of others."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of addresses (pcapng name resolution blocks)."""


INDEX_TYPES: dict[str, Any] = {
    "offset": np.int64, "caplen": np.uint32, "wirelen": np.uint32, "time": np.int64,
    "interface": np.uint16,
}  # fmt: skip
"""The type of each array of an index."""


def empty_index() -> Index:
    """Make the index of no packets."""
    return Index(**{name: np.zeros(0, kind) for name, kind in INDEX_TYPES.items()})


def part(index: Index, start: int, stop: int) -> Index:
    """Return some packets of an index."""
    return Index(
        offset=index.offset[start:stop],
        caplen=index.caplen[start:stop],
        wirelen=index.wirelen[start:stop],
        time=index.time[start:stop],
        interface=index.interface[start:stop],
    )


def join(parts: list[Index]) -> Index:
    """Put the parts of an index together."""
    if len(parts) == 1:
        return parts[0]
    parts = parts or [empty_index()]
    return Index(
        offset=np.concatenate([each.offset for each in parts]),
        caplen=np.concatenate([each.caplen for each in parts]),
        wirelen=np.concatenate([each.wirelen for each in parts]),
        time=np.concatenate([each.time for each in parts]),
        interface=np.concatenate([each.interface for each in parts]),
    )
