"""A connection's tuple spells itself as a probe does."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConnTuple

A, B = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")


def test_a_tuple_spells_its_ends() -> None:
    """With ports where the protocol has them."""
    assert str(ConnTuple(A, B, protocols.TCP, 4000, 80)) == "tcp 10.0.0.1:4000 > 10.0.0.2:80"


def test_a_tuple_without_ports_spells_addresses() -> None:
    """ESP has none."""
    assert str(ConnTuple(A, B, protocols.ESP)) == "esp 10.0.0.1 > 10.0.0.2"
