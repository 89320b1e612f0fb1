"""Tests for the table of connections: the evidence's entries, and what a branch makes of them."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import DEFAULT_ZONE, Connection, Zone
from podpath.datapath.conntrack.table import ConntrackTable, TableSnapshot, index
from podpath.datapath.conntrack.tuples import inverse, tuple_key
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConntrackEntry, ConnTuple, TrackedEntries

POD, NODE, SERVER = (Address.parse(text) for text in ("10.244.0.5", "192.0.2.1", "198.51.100.7"))
ORIGINAL = ConnTuple(POD, SERVER, protocols.TCP, 40000, 80)
MASQUERADED = ConntrackEntry(
    original=ORIGINAL,
    reply=ConnTuple(SERVER, NODE, protocols.TCP, 80, 1024),
    state="ESTABLISHED",
    assured=True,
    replied=True,
    mark=7,
)


def key_of(entry: ConnTuple, kind: int = 0) -> tuple[int, int, int, int, int, int, int]:
    """Return a tuple's key in the default zone."""
    return tuple_key(entry, kind, 0)


def test_entries_of_the_evidence_are_found_both_ways() -> None:
    """Each tuple of an entry leads to its connection, with the direction."""
    table = ConntrackTable(TableSnapshot((MASQUERADED,)))
    forth, back = (
        table.find(key_of(ORIGINAL), DEFAULT_ZONE),
        table.find(key_of(MASQUERADED.reply), DEFAULT_ZONE),
    )

    assert forth is not None
    assert back is not None
    assert (forth[0], False, True) == (back[0], forth[1], back[1])


def test_a_table_of_the_evidence_is_indexed_once() -> None:
    """However many walks ask; other entries of the same kind have an index of their own."""
    entries = TrackedEntries((MASQUERADED,))

    assert index(entries) is index(entries)
    assert index(entries).entries == TableSnapshot(entries).entries
    assert index(TrackedEntries()).entries == index(()).entries == {}


def test_an_entry_shows_its_translations() -> None:
    """NAT is where the reply tuple is not the inverse of the original one."""
    found = ConntrackTable(TableSnapshot((MASQUERADED,))).find(key_of(ORIGINAL), DEFAULT_ZONE)

    assert found is not None
    connection = found[0]
    assert (True, False, "ESTABLISHED", 7, True, True) == (
        connection.src_nat,
        connection.dst_nat,
        connection.state,
        connection.mark,
        connection.assured,
        connection.seen_reply,
    )


def test_branches_do_not_share_connections() -> None:
    """What one branch does to a connection, another does not see."""
    snapshot = TableSnapshot((MASQUERADED,))
    one, two = ConntrackTable(snapshot), ConntrackTable(snapshot)
    found = one.find(key_of(ORIGINAL), DEFAULT_ZONE)
    assert found is not None
    found[0].mark = 99
    one.delete(found[0])
    other = two.find(key_of(ORIGINAL), DEFAULT_ZONE)

    assert one.find(key_of(ORIGINAL), DEFAULT_ZONE) is None
    assert one.find(key_of(MASQUERADED.reply), DEFAULT_ZONE) is None
    assert other is not None
    assert 7 == other[0].mark


def test_zones_keep_equal_tuples_apart() -> None:
    """Two connections may have one tuple in different zones."""
    table = ConntrackTable()
    for zone in (Zone(5), Zone(6)):
        table.insert(Connection(ORIGINAL, inverse(ORIGINAL), zone=zone))
    found = table.find(tuple_key(ORIGINAL, 0, 6), Zone(6))

    assert found is not None
    assert Zone(6) == found[0].zone
    assert table.find(tuple_key(ORIGINAL, 0, 0), DEFAULT_ZONE) is None


def test_a_zone_of_one_direction_lets_answers_in() -> None:
    """With a zone in the original direction only, answers are looked up in the default zone."""
    table = ConntrackTable()
    zone = Zone(5, reply=False)
    table.insert(Connection(ORIGINAL, inverse(ORIGINAL), zone=zone))
    found = table.find(tuple_key(inverse(ORIGINAL), 0, 0), DEFAULT_ZONE)

    assert found is not None
    assert found[1]


def test_a_reply_tuple_of_another_connection_is_taken() -> None:
    """A new connection may not have the reply tuple of another one, but that of its own twin."""
    table = ConntrackTable(TableSnapshot((MASQUERADED,)))
    other = Connection(ORIGINAL._replace(sport=5), inverse(ORIGINAL))
    twin = Connection(ORIGINAL, inverse(ORIGINAL))

    assert table.taken(key_of(MASQUERADED.reply), other)
    assert not table.taken(key_of(MASQUERADED.reply), twin)
    assert not table.taken(key_of(inverse(ORIGINAL)), other)


def test_connections_of_a_source_are_found() -> None:
    """The evidence's entries are among them."""
    table = ConntrackTable(TableSnapshot((MASQUERADED,)))

    assert [ORIGINAL] == [found.original for found in table.of_source((POD, 40000, protocols.TCP))]
    assert [] == table.of_source((POD, 40001, protocols.TCP))
    assert [] == table.of_source((SERVER, 80, protocols.TCP))


def test_an_echo_entry_is_found_by_its_identifier() -> None:
    """Of an ICMP entry the identifier stands in both ports, and the request is the original
    direction.
    """
    echo = ConntrackEntry(
        original=ConnTuple(POD, SERVER, protocols.ICMP, 7, 7),
        reply=ConnTuple(SERVER, POD, protocols.ICMP, 7, 7),
    )
    table = ConntrackTable(TableSnapshot((echo,)))
    request, answer = (
        table.find(key_of(echo.original, 8 << 8), DEFAULT_ZONE),
        table.find(key_of(echo.reply), DEFAULT_ZONE),
    )

    assert request is not None
    assert answer is not None
    assert (False, True, False) == (request[1], answer[1], request[0].src_nat)


def test_a_zone_of_answers_alone_finds_them_by_its_id() -> None:
    """With a zone in the reply direction only, the answer's tuple stands under that zone's id."""
    table = ConntrackTable(TableSnapshot(()))
    zone = Zone(5, original=False)
    table.insert(Connection(ORIGINAL, inverse(ORIGINAL), zone=zone))
    found = table.find(key_of(inverse(ORIGINAL)), zone)

    assert found is not None
    assert (zone, True) == (found[0].zone, found[1])
