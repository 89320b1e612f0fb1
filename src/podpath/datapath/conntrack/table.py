"""The table of confirmed connections of one namespace in one branch of a walk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence

from podpath.datapath.conntrack.connection import Connection, Zone
from podpath.datapath.conntrack.tuples import ICMPS, Key, inverse, inverse_kind, tuple_key
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConntrackEntry, TrackedEntries

ECHO = {protocols.ICMP: 8 << 8, protocols.ICMPV6: 128 << 8}
"""The kind that an ICMP entry of the evidence is taken to have: it shows the identifier, and echo
is what has one.
"""


class TableSnapshot:
    """The entries of the evidence, by tuple. Made once for a namespace and shared by all branches,
    which never change it.
    """

    __slots__ = ("_by_source", "entries")

    def __init__(self, entries: Iterable[ConntrackEntry] = ()) -> None:
        """Index both tuples of every entry."""
        self.entries: dict[Key, tuple[ConntrackEntry, bool]] = {}
        """By tuple: the entry, and whether it is its reply direction."""
        for entry in entries:
            kind = _kind(entry)
            answer = inverse_kind(entry.original.protocol, kind) or 0
            self.entries[tuple_key(entry.reply, answer, entry.zone)] = (entry, True)
            self.entries[tuple_key(entry.original, kind, entry.zone)] = (entry, False)
        self._by_source: dict[tuple[Address, int, int], list[Key]] | None = None

    def find(self, key: Key) -> tuple[ConntrackEntry, bool] | None:
        """Return the entry that a tuple belongs to, and whether it is its reply direction."""
        return self.entries.get(key)

    def by_source(self, source: tuple[Address, int, int]) -> list[Key]:
        """Return the original tuples that have this source address, port and protocol."""
        if self._by_source is None:
            self._by_source = {}
            for key, (entry, is_reply) in self.entries.items():
                if not is_reply:
                    original = entry.original
                    self._by_source.setdefault(
                        (original.src, original.sport, original.protocol), []
                    ).append(key)
        return self._by_source.get(source, [])


EMPTY = TableSnapshot()


def index(entries: Sequence[ConntrackEntry]) -> TableSnapshot:
    """Return the entries by tuple, made once for each table of the evidence."""
    known = TrackedEntries.of(entries)
    if known.indexed is None:
        known.indexed = TableSnapshot(known)
    snapshot: TableSnapshot = known.indexed
    return snapshot


class ConntrackTable:
    """Confirmed connections, found by tuple and zone: those of the evidence, and what the packets
    of one branch made of them.
    """

    __slots__ = ("_entries", "_snapshot")

    def __init__(
        self,
        snapshot: TableSnapshot = EMPTY,
        entries: MutableMapping[Key, tuple[Connection, bool] | None] | None = None,
    ) -> None:
        """Start with the evidence's entries; each becomes a connection when a packet first meets
        it. `entries` is where they are kept, if not in a dictionary.
        """
        self._snapshot = snapshot
        self._entries = {} if entries is None else entries
        """None marks a deleted entry of the evidence."""

    def __iter__(self) -> Iterator[Connection]:
        """Return the connections that packets have met or made."""
        return (found[0] for found in self._entries.values() if found is not None and not found[1])

    def find(self, key: Key, zone: Zone) -> tuple[Connection, bool] | None:
        """Find the connection that a tuple belongs to, and whether it is its reply direction.

        `key` holds the zone's id of the original direction (`resolve_normal_ct`,
        net/netfilter/nf_conntrack_core.c v6.12).
        """
        found = self._get(key)
        if found is not None and found[0].zone.in_direction(reply=found[1]) == zone.in_direction(
            reply=found[1]
        ):
            return found
        reply_id = zone.in_direction(reply=True)
        if reply_id == key[6]:
            return None
        found = self._get((*key[:6], reply_id))
        if found is not None and found[0].zone.in_direction(reply=found[1]) == zone.in_direction(
            reply=found[1]
        ):
            return found
        return None

    def taken(self, key: Key, ignored: Connection) -> bool:
        """Tell whether another connection has a reply tuple already
        (`nf_conntrack_tuple_taken`).
        """
        found = self.find(key, ignored.zone)
        if found is None or found[0] is ignored:
            return False
        other = found[0]
        # Two entries with one original tuple are the same flow.
        return other.original != ignored.original or other.zone != ignored.zone

    def of_source(self, source: tuple[Address, int, int]) -> list[Connection]:
        """Return the connections whose original source is this address, port and protocol."""
        for key in self._snapshot.by_source(source):
            self._get(key)
        return [
            other
            for other in self
            if (other.original.src, other.original.sport, other.original.protocol) == source
        ]

    def insert(self, connection: Connection) -> None:
        """Enter a connection by both of its tuples (`__nf_conntrack_hash_insert`)."""
        connection.confirmed = True
        original, reply = _keys(connection)
        self._entries[reply] = (connection, True)
        self._entries[original] = (connection, False)

    def delete(self, connection: Connection) -> None:
        """Forget a connection (`nf_ct_delete`)."""
        for key in _keys(connection):
            found = self._entries.get(key)
            if found is not None and found[0] is connection:
                self._entries[key] = None

    def _get(self, key: Key) -> tuple[Connection, bool] | None:
        try:
            return self._entries[key]
        except KeyError:
            seeded = self._snapshot.find(key)
        if seeded is None:
            return None
        self.insert(_seed(seeded[0]))
        return self._entries[key]


def _keys(connection: Connection) -> tuple[Key, Key]:
    zone = connection.zone
    return (
        tuple_key(connection.original, connection.kind, zone.in_direction(reply=False)),
        tuple_key(connection.reply, connection.reply_kind, zone.in_direction(reply=True)),
    )


def _kind(entry: ConntrackEntry) -> int:
    if entry.original.protocol in ICMPS:
        return ECHO[entry.original.protocol]
    return 0


def _seed(entry: ConntrackEntry) -> Connection:
    kind = _kind(entry)
    answer = inverse_kind(entry.original.protocol, kind) or 0
    connection = Connection(
        entry.original, entry.reply, kind=kind, reply_kind=answer, zone=Zone(entry.zone)
    )
    plain = inverse(entry.reply)
    connection.state = entry.state
    connection.mark = entry.mark
    connection.seen_reply = entry.replied
    connection.assured = entry.assured
    connection.src_nat = plain.src != entry.original.src
    connection.dst_nat = plain.dst != entry.original.dst
    if entry.original.protocol not in ICMPS:
        # The identifier stands for both ports, so it cannot tell the two translations apart.
        connection.src_nat = connection.src_nat or plain.sport != entry.original.sport
        connection.dst_nat = connection.dst_nat or plain.dport != entry.original.dport
    connection.src_nat_done = connection.dst_nat_done = True
    connection.span = entry.span
    return connection
