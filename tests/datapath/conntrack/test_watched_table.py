"""Tables of connections for watched headers: they find what a dictionary finds."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.table import TableSnapshot
from podpath.datapath.conntrack.tuples import Key, inverse
from podpath.datapath.conntrack.watched_table import WatchedSnapshot, watch_table
from podpath.net.addresses import Address
from podpath.net.watched import Looked, Watched
from podpath.node.netfilter import ConntrackEntry, ConnTuple

NUMBERS = st.integers(0, 7)
TUPLES = st.builds(
    lambda src, dst, sport, dport: ConnTuple(Address(4, src), Address(4, dst), 6, sport, dport),
    NUMBERS, NUMBERS, NUMBERS, NUMBERS,
)  # fmt: skip
ENTRIES = st.lists(
    st.builds(lambda original: ConntrackEntry(original=original, reply=inverse(original)), TUPLES),
    max_size=8,
)


def watched_key(entry: ConnTuple, looked: Looked) -> Any:  # noqa: ANN401 - a key to whoever compares it
    """Return the key of a tuple of which addresses and ports are watched."""
    return (
        Watched(entry.src.value, 32, 64, looked),
        Watched(entry.dst.value, 32, 32, looked),
        6 | 4 << 8,
        Watched(entry.sport, 16, 0, looked),
        Watched(entry.dport, 16, 16, looked),
        0,
        0,
    )


def plain_key(header: int) -> Key:
    """Return the key of a header that is one number."""
    src, dst = header >> 64, header >> 32 & 0xFFFFFFFF
    return src, dst, 6 | 4 << 8, header & 0xFFFF, header >> 16 & 0xFFFF, 0, 0


def join(entry: ConnTuple) -> int:
    """Return a tuple's header as one number."""
    return entry.src.value << 64 | entry.dst.value << 32 | entry.dport << 16 | entry.sport


@given(entries=ENTRIES, asked=TUPLES, other=TUPLES)
def test_it_finds_what_a_dictionary_finds(
    entries: list[ConntrackEntry], asked: ConnTuple, other: ConnTuple
) -> None:
    """The entry of a watched key is that of the plain one, and of every one with its noted bits."""
    snapshot, looked = TableSnapshot(entries), Looked()
    found = WatchedSnapshot(snapshot).find(watched_key(asked, looked))
    like = plain_key(join(other) & ~looked.mask | join(asked) & looked.mask)

    assert snapshot.find(plain_key(join(asked))) == found
    assert snapshot.find(like) == found


@given(entries=ENTRIES, asked=TUPLES)
def test_it_finds_the_connections_of_a_source(
    entries: list[ConntrackEntry], asked: ConnTuple
) -> None:
    """So it does by source."""
    snapshot, looked = TableSnapshot(entries), Looked()
    src = Address(4, watched_key(asked, looked)[0])
    sport = watched_key(asked, looked)[3]

    assert snapshot.by_source((asked.src, asked.sport, 6)) == WatchedSnapshot(snapshot).by_source(
        (src, sport, 6)
    )


def test_what_packets_made_is_found_by_both_tuples() -> None:
    """A connection that a walk enters is found without a look at its ports, and gone once it is
    deleted.
    """
    looked = Looked()
    original = ConnTuple(
        Address(4, watched_key(_tuple(), looked)[0]), Address(4, 9), 6,
        watched_key(_tuple(), looked)[3], 80,
    )  # fmt: skip
    table = watch_table(TableSnapshot())
    connection = Connection(original, inverse(original))
    table.insert(connection)
    key = (original.src.value, 9, 6 | 4 << 8, original.sport, 80, 0, 0)

    assert table.find(key, connection.zone) == (connection, False)
    assert looked.mask & 0xFFFFFFFF == 0
    assert list(table) == [connection]
    table.delete(connection)
    assert table.find(key, connection.zone) is None


def _tuple() -> ConnTuple:
    return ConnTuple(Address(4, 1), Address(4, 2), 6, 40000, 80)
