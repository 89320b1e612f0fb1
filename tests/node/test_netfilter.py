"""A connection's tuple spells itself as a probe does, and a table knows its translations."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConntrackEntry, ConnTuple, TrackedEntries

A, B = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")


def test_a_tuple_spells_its_ends() -> None:
    """With ports where the protocol has them."""
    assert str(ConnTuple(A, B, protocols.TCP, 4000, 80)) == "tcp 10.0.0.1:4000 > 10.0.0.2:80"


def test_a_tuple_without_ports_spells_addresses() -> None:
    """ESP has none."""
    assert str(ConnTuple(A, B, protocols.ESP)) == "esp 10.0.0.1 > 10.0.0.2"


def test_a_table_knows_whose_answers_come_from_elsewhere() -> None:
    """An entry of a service is one, a masqueraded one is none; a table stays what it is."""
    asked = ConnTuple(A, B, protocols.TCP, 4000, 80)
    plain = ConntrackEntry(original=asked, reply=ConnTuple(B, A, protocols.TCP, 80, 4000))
    served = ConntrackEntry(original=asked, reply=ConnTuple(A, B, protocols.TCP, 8080, 4000))
    table = TrackedEntries.of((plain, served))

    assert table.rewritten == (served,)
    assert TrackedEntries.of(table) is table
    assert table == (plain, served)
