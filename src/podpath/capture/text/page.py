"""A page of printed lines: what is read of them so far, a row for each line, and the names that were met on the way."""

from __future__ import annotations

import calendar
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.capture.files.index import Offsets
from podpath.capture.text.cursor import Cursor, Text
from podpath.net import protocols
from podpath.net.addresses import Address

_DATE = re.compile(rb"(\d{4})-(\d\d)-(\d\d)")
_LINK = re.compile(rb"[A-Za-z0-9_.@:-]{1,16}")
_MAC = re.compile(rb"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
_FLAG_BITS = {
    "S": protocols.SYN, "F": protocols.FIN, "R": protocols.RST, "P": protocols.PSH, ".": protocols.ACK, "U": protocols.URG,
    "E": protocols.ECE, "W": protocols.CWR,
}  # fmt: skip
USUAL = {"ttl": 64, "length": 60}
"""What columns have where the text prints nothing: as a packet's fields have."""
FILLED = (
    "time", "version", "protocol", "flags", "ttl", "direction", "icmp_type", "sport", "dport", "length", "payload", "seq", "ack",
    "src", "dst", "ident", "smac", "dmac", "window", "tsval", "tsecr", "options", "mss", "ifindex",
)  # fmt: skip
"""Columns that are read of lines; `ifindex` holds the number of the device's name, from 1."""


class Names:
    """What texts stand for, each read once. Mutable while lines are read."""

    def __init__(self) -> None:
        """Begin with none."""
        self.links: dict[bytes, int] = {}
        self.addresses: dict[int, int] = {}
        self._read: dict[bytes, int] = {}

    def day(self, text: bytes) -> int:
        """Return the seconds at which a day begins; -1 where no calendar has it."""
        found = _DATE.fullmatch(text)
        year, month, day = map(int, found.groups()) if found is not None else (0, 0, 0)
        known = year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31
        return calendar.timegm((year, month, day, 0, 0, 0)) if known else -1

    def flags(self, text: bytes) -> int:
        """Return the bits of TCP's flags; -1 where other letters stand there."""
        letters = "" if text == b"none" else text.decode("latin-1")
        if not text or any(letter not in _FLAG_BITS for letter in letters):
            return -1
        return sum({_FLAG_BITS[letter] for letter in letters})

    def link(self, text: bytes) -> int:
        """Return the number of a device, in order of appearance from 1."""
        return self.links.setdefault(text, len(self.links) + 1) if _LINK.fullmatch(text) else -1

    @staticmethod
    def mac(text: bytes) -> int:
        """Return an Ethernet address as a number."""
        return int(text.replace(b":", b""), 16) if _MAC.fullmatch(text) else -1

    def address(self, text: bytes) -> int:
        """Return the number of an IPv6 address."""
        number = self._read.get(text)
        if number is None:
            number = self._read[text] = self._number(text)
        return number

    def _number(self, text: bytes) -> int:
        try:
            found = Address.parse(text.decode("latin-1"))
        except ValueError:
            return -1
        return self.addresses.setdefault(found.value, len(self.addresses)) if found.family == 6 else -1

    def target(self, text: bytes) -> int:
        """Return the number of an IPv6 address that the colon before a packet's text stands behind."""
        return self.address(text[:-1]) if text.endswith(b":") and not text.endswith(b"::") else -1


class Page:
    """Some lines, and the rows that are read of them. Mutable while they are read."""

    __slots__ = ("arrays", "count", "ends", "names", "read", "starts", "stated", "text", "timed")

    def __init__(self, text: Text, starts: Offsets, ends: Offsets, names: Names) -> None:
        """Begin with nothing read; lines stand at places of the text."""
        self.text, self.starts, self.ends, self.names = text, starts, ends, names
        self.count = len(starts)
        self.read = np.zeros(self.count, np.bool_)
        self.timed = np.zeros(self.count, np.bool_)
        """Lines that begin with a time."""
        self.stated = np.zeros(self.count, np.uint8)
        """The protocol of lines whose IP header is printed (`-v`): the packet stands on the line below then."""
        self.arrays: dict[str, NDArray[Any]] = {}
        """A column for each field, a row for each line."""

    def cursor(self) -> Cursor:
        """Stand at the beginning of each line."""
        return Cursor(self.text, self.starts, self.ends.copy(), np.arange(self.count))

    def put(self, cursor: Cursor, name: str, values: NDArray[Any] | int) -> None:
        """Write a column of a cursor's lines."""
        if len(cursor) == self.count:
            self.arrays[name][:] = values
        else:
            self.arrays[name][cursor.rows] = values

    def close(self, cursor: Cursor, protocol: int) -> None:
        """Take the lines that are still good for read: packets of a protocol, which no header contradicts."""
        self.put(cursor, "protocol", protocol)
        stated = self.stated[cursor.rows]
        cursor.good &= (stated == 0) | (stated == protocol)
        self.read[cursor.rows[cursor.good]] = True
