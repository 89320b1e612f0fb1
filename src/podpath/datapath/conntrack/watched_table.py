"""A table of connections for a walk whose headers are watched: what a key is compared with is noted
by its fields, and what it is not, by no more of them than tell it from every entry of the evidence.

A dictionary would ask for the hash of a key, and so for every bit of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from podpath.datapath.conntrack.table import ConntrackTable, TableSnapshot
from podpath.datapath.conntrack.tuples import Key
from podpath.net.addresses import Address
from podpath.net.watched import Compared, is_watched
from podpath.node.netfilter import ConntrackEntry

_ORDER = (2, 1, 0, 4, 3)
"""In which order a key is compared with those of the evidence: protocol, destination, source,
destination port, source port.
"""


def watch_table(snapshot: TableSnapshot) -> ConntrackTable:
    """Make a table that notes what is asked of watched keys."""
    return ConntrackTable(WatchedSnapshot(snapshot), Compared())


class WatchedSnapshot(TableSnapshot):
    """The entries of the evidence, asked for keys that may be watched."""

    __slots__ = ("_levels", "_sources")

    def __init__(self, snapshot: TableSnapshot) -> None:
        """Share the entries of a snapshot."""
        self.entries = snapshot.entries
        self._by_source = None
        self._levels: dict[tuple[int, ...], list[int]] | None = None
        self._sources: dict[tuple[int, ...], list[int]] | None = None

    def find(self, key: Key) -> tuple[ConntrackEntry, bool] | None:
        """Return the entry that a tuple belongs to; where there is none, note what says so."""
        if not any(map(is_watched, key)):
            return self.entries.get(key)
        numbers = self._settle([key[place] for place in _ORDER])
        if numbers is None:
            return None
        protocol, dst, src, dport, sport = numbers
        return self.entries.get((src, dst, protocol, sport, dport, key[5], key[6]))

    def by_source(self, source: tuple[Address, int, int]) -> list[Key]:
        """Return the original tuples of a source; of a watched one, note what says which it is."""
        address, port, protocol = source
        if not self.entries:
            return []
        if self._sources is None:
            self._sources = _list_sources(self.entries)
        family = (address.family, protocol)
        number = _peek(address.value, self._sources.get(family, ()))
        if number is None:
            return []
        known = _peek(port, self._sources.get((*family, number), ()))
        if known is None:
            return []
        return super().by_source((Address(address.family, number), known, protocol))

    def _settle(self, fields: Sequence[Any]) -> tuple[int, ...] | None:
        """Return the fields of a key as numbers, None where no entry has the first of them."""
        if self._levels is None:
            self._levels = _list_levels(self.entries)
        path: tuple[int, ...] = ()
        for field in fields:
            number = _peek(field, self._levels.get(path, ()))
            if number is None:
                return None
            path = (*path, number)
        return path


def _peek(field: Any, known: Sequence[int]) -> int | None:  # noqa: ANN401 - a number, watched or not
    """Return a field as a number if it is a known one, else None, and note what says so."""
    if is_watched(field):
        return field.peek() if field.is_one_of(known) else None
    number: int = field
    return number if number in known else None


def _list_sources(
    entries: Mapping[Key, tuple[ConntrackEntry, bool]],
) -> dict[tuple[int, ...], list[int]]:
    """Return the sources of connections by family and protocol, and the ports of each, in order."""
    found: dict[tuple[int, ...], set[int]] = {}
    for entry, is_reply in entries.values():
        if not is_reply:
            original = entry.original
            family = (original.src.family, original.protocol)
            found.setdefault(family, set()).add(original.src.value)
            found.setdefault((*family, original.src.value), set()).add(original.sport)
    return {path: sorted(numbers) for path, numbers in found.items()}


def _list_levels(entries: Iterable[Key]) -> dict[tuple[int, ...], list[int]]:
    """Return, for each beginning of the entries' keys, what comes next in them, in order."""
    levels: dict[tuple[int, ...], set[int]] = {}
    for key in entries:
        path: tuple[int, ...] = ()
        for place in _ORDER:
            levels.setdefault(path, set()).add(key[place])
            path = (*path, key[place])
    return {path: sorted(numbers) for path, numbers in levels.items()}
