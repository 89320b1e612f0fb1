"""Counters of a device in different programs' words, by the names that the kernel has for them
(include/uapi/linux/if_link.h:rtnl_link_stats64 v6.12).

`ip -s link` prints a line of names and a line of values below it, or JSON; ifconfig prints name and
value side by side. What passed is kept, since nothing received can be the whole story; of what was
lost, what is not zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_HEADING = re.compile(r"\s*(?P<way>RX|TX)(?: errors)?:\s+(?P<names>[a-z][a-z ]*?)\s*$")
_VALUES = re.compile(r"\s*\d+(?:\s+\d+)+\s*$")
_PAIRS = re.compile(r"\s*(?P<way>RX|TX)\s+(?P<pairs>[a-z]+[ :]\d.*)$")
_PAIR = re.compile(r"(?P<name>[a-z]+)[ :](?P<value>\d+)\b")
_NAMES = {"overrun": "fifo", "overruns": "fifo", "collsns": "collisions"}
_LOSSES = frozenset({"errors", "dropped", "fifo", "frame", "crc", "carrier", "missed", "over"})
PACKETS = "packets"


def keep_counts(counts: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield what tells something, by the kernel's names: `rx_packets`, `tx_carrier`."""
    for name, value in counts:
        way, _, kind = name.partition("_")
        if kind == PACKETS or (value and kind in _LOSSES):
            yield f"{way}_{kind}", value


def _name(way: str, name: str) -> str:
    return f"{way.lower()}_{_NAMES.get(name, name)}"


def read_statistics(value: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """Return the counters of `stats64` or `stats` of `ip -s -j link`: `{"rx": {"packets": 12,
    "over_errors": 0}, "tx": ...}`.
    """
    found: list[tuple[str, int]] = []
    for way in ("rx", "tx"):
        counts = value.get(way)
        if isinstance(counts, Mapping):
            named = ((str(name), number) for name, number in counts.items())
            found += [
                (_name(way, name.removesuffix("_errors")), number)
                for name, number in named
                if type(number) is int
            ]
    return tuple(keep_counts(found))


def read_pairs(line: str) -> tuple[tuple[str, int], ...]:
    """Return the counters of a line of ifconfig: `RX packets:12 errors:0 ...`, `TX errors 0
    dropped 8 ...`.
    """
    found = _PAIRS.match(line)
    if found is None:
        return ()
    pairs = _PAIR.finditer(found["pairs"])
    return tuple(
        keep_counts((_name(found["way"], pair["name"]), int(pair["value"])) for pair in pairs)
    )


def read_heading(line: str) -> tuple[str, ...]:
    """Return the names in a heading of `ip -s link`: `rx_bytes`, `rx_packets`, ...; none where the
    line is no heading.
    """
    found = _HEADING.match(line)
    if found is None:
        return ()
    return tuple(_name(found["way"], name) for name in found["names"].split())


def read_values(names: tuple[str, ...], line: str) -> tuple[tuple[str, int], ...]:
    """Return the counters of the line below a heading; none where it has another shape."""
    if not _VALUES.match(line):
        return ()
    values = [int(word) for word in line.split()]
    if len(values) != len(names):
        return ()
    return tuple(keep_counts(zip(names, values, strict=True)))
