"""Long printed captures to columns: a row for each usual line, all other lines named.

What a reader of every shape (`evidence.tcpdump`) gives for a line is an object, and takes thirty
microseconds. Here lines are read by their shapes. A million lines of tcpdump differ in their digits
and hardly in anything else, so with `0` in place of each run of digits some dozen shapes are left
on a page. One expression reads each shape once (`capture.text.shape`) and says which number of the
line is which field; the numbers themselves are found, measured and picked by NumPy, a page at a
time.

A line becomes a row only where it is a packet by itself, whatever stands around it: lines that go
on with it are joined to it first, and the expression knows the whole or leaves it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.addresses import Address
from podpath.net.protocols import ICMPV6, UDP
from podpath_capture.columns import TYPES
from podpath_capture.files.index import Bytes, Offsets
from podpath_capture.text.shape import DIGITS, JOINT, TEXTS, LineShape, join_lines, read_shape

PAGE = 1 << 20
"""Bytes that are read at once."""
BLOCK = 1 << 20
"""Bytes in which ends of lines are looked for at once."""
LONGEST = 2000
"""Bytes of a packet that is read here: readers of every shape look no further, and what stands
there decides for none.
"""
_NEWLINE, _RETURN, _SPACE, _TAB = b"\n\r \t"
_ZERO, _ESCAPE, _ASCII = np.uint8(ord("0")), np.uint8(27), np.uint8(126)
_IP_AND_UDP, _ETHERNET = 28, 14
"""Bytes of headers."""
NAMES = 53
"""The port of name servers: what stands first in the text of their messages is an identifier."""
_USUAL_TTL, _USUAL_LENGTH = 64, 60
"""What columns have where the text prints nothing: as a packet's fields have."""
_BYTE, _HALF, _WORD = 0xFF, 0xFFFF, 0xFFFFFFFF
_LINK = re.compile(r"[A-Za-z0-9_.@:-]{1,16}")
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
_SUM, _CORRECTED = re.compile(rb"cksum 0x[0-9a-f]{4}"), re.compile(rb"-> 0x[0-9a-f]{4}")
_ONLY_DIGITS = bytes(byte if byte in b"0123456789" else _SPACE for byte in range(256))
_NO_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_TIMES = frozenset({"counter", "year", "month", "day", "hour", "minute", "second", "epoch", "part"})
"""Fields of the beginning of a line."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRows:
    """What was read of a text."""

    arrays: dict[str, NDArray[Any]]
    """The columns that lines show, a row for each line that was read."""
    line: Offsets
    """The line of each row, from 0."""
    last: Offsets
    """The last line of each row: of a packet whose IP header is printed, the one below."""
    left: Offsets
    """Lines that were not read and are not empty, from 0."""
    starts: Offsets
    """The byte at which each line of the text begins."""
    ends: Offsets
    """The byte behind each line, without its end of line."""
    links: tuple[str, ...]
    """The devices that lines name, by the number in the column `ifindex` less one."""
    addresses: tuple[int, ...]
    """IPv6 addresses by their numbers."""
    plain: bool
    """True where the text has neither escape sequences nor anything but ASCII."""


def read_rows(data: Bytes) -> PrintedRows:
    """Read the usual lines of a text, as far as it is plain."""
    starts, ends = find_lines(data)
    names = Names()
    parts = [_read_page(data[:0], names)]
    for first, stop in _find_pages(data, starts, ends):
        page = _read_page(data[starts[first] : ends[stop - 1]], names)
        parts.append(Page(page.arrays, page.line + first, page.last + first))
    line = np.concatenate([part.line for part in parts])
    last = np.concatenate([part.last for part in parts])
    covered = np.zeros(len(starts), np.bool_)
    covered[line] = covered[last] = True
    return PrintedRows(
        arrays=_join_arrays([part.arrays for part in parts]),
        line=line,
        last=last,
        left=np.flatnonzero(~covered & (ends > starts)),
        starts=starts,
        ends=ends,
        links=tuple(names.links),
        addresses=tuple(names.addresses),
        plain=all(_is_plain(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)),
    )


def _join_arrays(parts: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Put the columns of all pages behind each other."""
    joined: dict[str, NDArray[Any]] = {}
    for name in parts[0]:
        joined[name] = np.concatenate([part[name] for part in parts])
    return joined


def find_lines(data: Bytes) -> tuple[Offsets, Offsets]:
    """Return where each line begins and ends, without its end of line."""
    parts = [
        np.flatnonzero(data[at : at + BLOCK] == _NEWLINE) + at for at in range(0, len(data), BLOCK)
    ]
    ends = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    returned = len(ends)
    if len(data) and data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    returns = data[np.maximum(ends - 1, 0)] == _RETURN
    returns[returned:] = False
    return starts, ends - (returns & (ends > starts))


def _is_plain(data: Bytes) -> bool:
    return bool(data.max(initial=0) <= _ASCII) and not bool((data == _ESCAPE).any())


def _find_pages(data: Bytes, starts: Offsets, ends: Offsets) -> Iterator[tuple[int, int]]:
    """Yield the lines of each page: the first, and the one behind the last, which goes on with no
    packet.
    """
    begins = data[starts]
    alone = np.flatnonzero((begins != _SPACE) & (begins != _TAB))
    first = 0
    while first < len(starts):
        full = max(int(np.searchsorted(ends, starts[first] + PAGE, "right")), first + 1)
        place = int(np.searchsorted(alone, full))
        stop = int(alone[place]) if place < len(alone) else len(starts)
        yield first, stop
        first = stop


class Page(NamedTuple):
    """What was read of some lines."""

    arrays: dict[str, NDArray[Any]]
    line: Offsets
    last: Offsets


class Names:
    """What texts stand for, each read once. Mutable while lines are read."""

    def __init__(self) -> None:
        """Begin with none."""
        self.links: dict[str, int] = {}
        """Devices by their names, numbered from 1 in the order of the lines."""
        self.addresses: dict[int, int] = {}
        """IPv6 addresses by their values, numbered from 0."""
        self._known: dict[str, dict[str, int]] = {name: {} for name in TEXTS}

    def read(self, name: str, texts: Sequence[str]) -> Offsets:
        """Return what the texts of a field mean; -1 for those that mean nothing."""
        known = self._known[name]
        for text in dict.fromkeys(texts):
            if text not in known:
                known[text] = self._read_one(name, text)
        return np.array([known[text] for text in texts], np.int64)

    def _read_one(self, name: str, text: str) -> int:
        if name == "link":
            if _LINK.fullmatch(text):
                return self.links.setdefault(text, len(self.links) + 1)
            return -1
        if name in {"smac", "dmac"}:
            if _MAC.fullmatch(text):
                return int(text.replace(":", ""), 16)
            return -1
        try:
            address = Address.parse(text)
        except ValueError:
            return -1
        if address.family == 6:
            return self.addresses.setdefault(address.value, len(self.addresses))
        return -1


class _Numbers(NamedTuple):
    """The runs of digits of a page."""

    values: Offsets
    sizes: Offsets
    """How many digits each has."""
    shape: str
    """The page with `0` in place of each."""


def _blank_sums(data: Bytes) -> Bytes:
    """Put zeros in place of checksums, which are not kept and whose letters would make a shape of
    each line.
    """
    text = data.tobytes()
    if b"cksum 0x" not in text:
        return data
    return np.frombuffer(_CORRECTED.sub(b"-> 0x0000", _SUM.sub(b"cksum 0x0000", text)), np.uint8)


def _find_numbers(data: Bytes) -> _Numbers:
    digit = np.zeros(len(data) + 2, np.bool_)
    digit[1:-1] = data - _ZERO < 10
    edges = np.flatnonzero(digit[1:] != digit[:-1])
    sizes = edges[1::2] - edges[::2]
    if len(sizes):
        values = np.fromstring(data.tobytes().translate(_ONLY_DIGITS), np.int64, sep=" ")
    else:
        values = sizes
    goes_on = digit[1:-1] & digit[:-2]
    return _Numbers(values, sizes, data[~goes_on].tobytes().translate(_NO_DIGITS).decode("latin-1"))


def _read_page(data: Bytes, names: Names) -> Page:
    """Read the usual lines of a page."""
    returned = np.zeros(len(data), np.bool_)
    returned[:-1] = (data[:-1] == _RETURN) & (data[1:] == _NEWLINE)
    data = _blank_sums(data[~returned])
    numbers = _find_numbers(data)
    packets = join_lines(numbers.shape).split("\n")
    known: dict[str, int] = {}
    shape = np.array([known.setdefault(packet, len(known)) for packet in packets], np.int64)
    lines = _Lines(data, numbers, [read_shape(text) for text in known], shape)
    values, good = _make_columns(lines, names)
    rows = lines.rows[good]
    arrays: dict[str, NDArray[Any]] = {
        name: column[good].astype(TYPES[name]) for name, column in values.items()
    }
    return Page(arrays, lines.first[rows], lines.last[rows])


class _Lines:
    """The lines of a page that are packets by their shapes: their fields, as columns of numbers."""

    def __init__(
        self, data: Bytes, numbers: _Numbers, shapes: Sequence[LineShape], shape: Offsets
    ) -> None:
        """Take a page's numbers, its shapes, and which of them each line has."""
        self._text = data.tobytes().decode("latin-1")
        self._shapes = shapes
        extents = np.array([one.text.count(JOINT) + 1 for one in shapes], np.int64)[shape]
        self.last = np.cumsum(extents) - 1
        self.first = self.last + 1 - extents
        self.rows = np.flatnonzero(np.array([one.packet for one in shapes], np.bool_)[shape])
        self._shape = shape[self.rows]
        self._further = np.concatenate([[0], np.cumsum(numbers.sizes - 1)])
        """How much further than in the shape a character stands, by the numbers before it."""
        counts = np.array([one.text.count("0") for one in shapes], np.int64)[shape]
        self._number = (np.cumsum(counts) - counts)[self.rows]
        """Which number of the page is the first of each line."""
        lengths = np.array([len(one.text) for one in shapes], np.int64)[shape]
        self._start = (np.cumsum(lengths + 1) - lengths - 1)[self.rows]
        """Where each line begins in the shape of the page."""
        self._values: dict[str, Offsets] = {}
        self._sizes: dict[str, Offsets] = {}
        self._there: dict[str, Mask] = {}
        self._none = np.zeros(len(self.rows), np.int64)
        printed = lengths[self.rows] + self._widen(self._number, counts[self.rows])
        self.usual: Mask = printed <= LONGEST
        """Where numbers have as many digits as they should, and the line below goes on with no
        packet.
        """
        timed = self._take_all(numbers)
        self.usual &= self._find_beginnings(shape, timed)[self.rows + 1]

    def _take_all(self, numbers: _Numbers) -> Mask:
        """Take every field, and find the lines that are usual by it; tell where those of the time
        are, which begin a line.
        """
        timed = self.usual.copy()
        places = np.array([one.numbers for one in self._shapes], np.int64)
        for column, name in enumerate(DIGITS):
            fits = self._take(name, places[:, column], numbers)
            self.usual &= fits
            if name in _TIMES:
                timed &= fits
        return timed

    def _find_beginnings(self, shape: Offsets, timed: Mask) -> Mask:
        """Tell which lines begin something of their own, and with them the end of the page."""
        begins = np.ones(len(shape) + 1, np.bool_)
        indented = [one.text.startswith((" ", "\t")) for one in self._shapes]
        begins[:-1] = ~np.array(indented, np.bool_)[shape]
        begins[self.rows] |= timed
        return begins

    def _widen(self, number: Offsets, count: Offsets) -> Offsets:
        """Return how much longer than in the shape some numbers are, which follow each other."""
        widened: Offsets = self._further[number + count] - self._further[number]
        return widened

    def _take(self, name: str, places: Offsets, numbers: _Numbers) -> Mask | bool:
        """Take a field of all lines whose shapes have it; tell where it has as many digits as it
        should.
        """
        if not (places >= 0).any():
            return True
        place = places[self._shape]
        there = place >= 0
        at = np.where(there, self._number + place, 0)
        least, most = DIGITS[name]
        self._there[name], self._sizes[name] = there, numbers.sizes[at]
        self._values[name] = np.where(there, numbers.values[at], 0)
        fits: Mask = ~there | (self._sizes[name] >= least) & (self._sizes[name] <= most)
        return fits

    def has(self, name: str) -> Mask:
        """Tell which lines have a field that is a number."""
        there = self._there.get(name)
        if there is None:
            return np.zeros(len(self.rows), np.bool_)
        return there

    def number(self, name: str) -> Offsets:
        """Return a field that is a number; 0 where it is not there."""
        return self._values.get(name, self._none)

    def common(self, name: str) -> Offsets:
        """Return what a line has of its shape."""
        return np.array([getattr(one, name) for one in self._shapes], np.int64)[self._shape]

    def address(self, names: str) -> Offsets:
        """Return an IPv4 address by the names of its octets; -1 where one is too large, or begins
        with 0 though it is not 0.
        """
        value = np.zeros(len(self.rows), np.int64)
        good = np.ones(len(self.rows), np.bool_)
        for name in names:
            octet = self.number(name)
            digits = 1 + (octet > 9) + (octet > 99)
            good &= (octet < 256) & (self._sizes.get(name, self._none) <= digits)
            value = value << 8 | octet
        return np.where(good, value, -1)

    def meaning(self, name: str, names: Names) -> Offsets:
        """Return what a field of text means; 0 where it is not there, -1 where it means nothing."""
        place = TEXTS.index(name)
        begin, before, end, until = np.array([one.texts[place] for one in self._shapes], np.int64)[
            self._shape
        ].T
        found = np.zeros(len(self.rows), np.int64)
        there = np.flatnonzero(begin >= 0)
        if len(there):
            base, number = self._start[there], self._number[there]
            begins = base + begin[there] + self._further[number + before[there]]
            ends = base + end[there] + self._further[number + until[there]]
            texts = [
                self._text[first:stop]
                for first, stop in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
            found[there] = names.read(name, texts)
        return found


def _make_columns(lines: _Lines, names: Names) -> tuple[dict[str, Offsets], Mask]:
    """Make the columns of lines, and tell which of them are packets."""
    number, seconds = lines.number, _read_seconds(lines)
    values = {
        "time": seconds * 1_000_000_000 + number("part") * 1000,
        "protocol": lines.common("protocol"),
        "flags": lines.common("flags"),
        "ttl": np.where(lines.has("stated"), number("ttl") & _BYTE, _USUAL_TTL),
        "direction": lines.common("direction"),
        "icmp_type": lines.common("icmp_type"),
        "ident": number("ident") & _HALF,
        "smac": lines.meaning("smac", names),
        "dmac": lines.meaning("dmac", names),
        "ifindex": lines.meaning("link", names),
        **_make_ends(lines, names),
        **_make_sizes(lines),
        **_make_stream(lines),
    }
    named = (values["sport"] == NAMES) | (values["dport"] == NAMES)
    values["query"] = np.where(named, number("query") & _HALF, 0)
    good = _are_packets(lines, values)
    good &= seconds >= 0
    return values, good


def _make_ends(lines: _Lines, names: Names) -> dict[str, Offsets]:
    """Make the columns of addresses and ports; an echo's identifier is both of its ports."""
    four, echo = lines.has("a"), lines.has("identifier")
    identifier = lines.number("identifier") & _HALF
    return {
        "version": np.where(four, 4, 6),
        "src": np.where(four, lines.address("abcd"), lines.meaning("source", names)),
        "dst": np.where(lines.has("e"), lines.address("efgh"), lines.meaning("target", names)),
        "sport": np.where(echo, identifier, lines.number("sport")),
        "dport": np.where(echo, identifier, lines.number("dport")),
    }


def _make_sizes(lines: _Lines) -> dict[str, Offsets]:
    """Make the columns of a packet's and its payload's length: as an IP header states it, or as the
    frame and what is above IP tell it.
    """
    number, headed = lines.number, lines.has("stated")
    packet = np.maximum(number("frame") - _ETHERNET, 0)
    unstated = np.where(lines.has("frame"), packet, _USUAL_LENGTH)
    length = np.where(headed, number("length"), unstated)
    printed = number("segment") + number("datagram") + number("message") + number("size")
    unsized = headed & (lines.common("protocol") == UDP) & (printed == 0)
    payload = np.where(unsized, np.maximum(length - _IP_AND_UDP, 0), printed)
    return {"length": length, "payload": payload & _WORD}


def _make_stream(lines: _Lines) -> dict[str, Offsets]:
    """Make the columns of TCP, and the number of an echo, which stands in its place."""
    number = lines.number
    return {
        "seq": (number("seq") + number("number")) & _WORD,
        "ack": number("ack") & _WORD,
        "window": np.minimum(number("window"), _HALF),
        "tsval": number("tsval") & _WORD,
        "tsecr": number("tsecr") & _WORD,
        "options": lines.common("options"),
        "mss": np.minimum(number("mss"), _HALF),
    }


def _are_packets(lines: _Lines, values: dict[str, Offsets]) -> Mask:
    """Tell which lines are packets: those whose fields go together and whose values can be."""
    number, has = lines.number, lines.has
    headed, echo = has("stated"), has("identifier")
    family, protocol = values["version"], values["protocol"]
    good: Mask = lines.usual & (has("a") == has("e"))
    good &= (has("sport") == ~echo) & (has("dport") == ~echo)
    good &= (values["sport"] <= _HALF) & (values["dport"] <= _HALF)
    good &= ~echo | ((protocol == ICMPV6) == (family == 6))
    good &= ~headed | (number("stated") == protocol) & (family == 4)
    for name, only in (("label", 6), ("six", 6), ("offset", 0)):
        good &= ~has(name) | (number(name) == only)
    for name in ("src", "dst", "smac", "dmac", "ifindex"):
        good &= values[name] >= 0
    return good


def _read_seconds(lines: _Lines) -> Offsets:
    """Return the seconds of a time with a date or without, or since the epoch; -1 where no calendar
    has the date.
    """
    clock = lines.number("hour") * 3600 + lines.number("minute") * 60 + lines.number("second")
    year, month, day = (lines.number(name) for name in ("year", "month", "day"))
    days, place = np.unique(year * 10_000 + month * 100 + day, return_inverse=True)
    starts = np.array([_read_day(*divmod(date, 10_000)) for date in days.tolist()], np.int64)[place]
    return np.where(starts < 0, -1, starts + clock + lines.number("epoch"))


def _read_day(year: int, rest: int) -> int:
    """Return the seconds at which a day begins, 0 where no date stands; -1 where no calendar has
    it.
    """
    month, day = divmod(rest, 100)
    if not year and not rest:
        return 0
    known = year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31
    if known:
        return calendar.timegm((year, month, day, 0, 0, 0))
    return -1
