"""Drops are counted by flow, and none is lost in the counting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.drops import tally
from podpath.drops.events import DropKey
from podpath.drops.tally import EPHEMERAL, DropTally, FlowCount, group
from podpath.net import protocols
from podpath.net.addresses import Address

ENDS = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")


def key(
    sport: int, dport: int, *, protocol: int = protocols.UDP, reason: str = "NO_SOCKET"
) -> DropKey:
    """Return the key of a packet between two hosts."""
    return DropKey(reason, 1, 7, 2, 2, 0x0800, protocol, 0, sport, dport, *ENDS)


PORTS = st.integers(1, 65535)
COUNTS = st.lists(
    st.builds(FlowCount, st.builds(key, PORTS, PORTS), st.integers(1, 1000), st.integers(0, 10**6))
)


@given(st.lists(COUNTS, max_size=4))
def test_what_goes_in_is_counted(turns: list[list[FlowCount]]) -> None:
    """The flows of a turn and of all turns have every packet, whatever ports they are of."""
    counts = DropTally()
    for one in turns:
        for flow in one:
            counts.count(flow)
        counts.leave_out(3)
        told = counts.end_turn()
        assert told.daily == 3
        assert sum(flow.packets for flow in told.flows) == sum(flow.packets for flow in one)
    flat = [flow for one in turns for flow in one]

    assert counts.total == sum(flow.packets for flow in flat)
    assert sum(flow.packets for flow in counts.list_flows()) == counts.total
    assert sum(flow.size for flow in counts.list_flows()) == sum(flow.size for flow in flat)
    assert counts.daily == 3 * len(turns)


def test_a_clients_port_does_not_tell_flows_apart() -> None:
    """Requests from many ports are one flow, and so are answers to them; a NodePort stays."""
    assert {group(key(port, 53)).sport for port in range(EPHEMERAL, EPHEMERAL + 9)} == {0}
    assert {group(key(53, port)).dport for port in range(EPHEMERAL, EPHEMERAL + 9)} == {0}
    assert group(key(EPHEMERAL, 30080)).dport == 30080
    assert group(key(40000, 50000)) == key(40000, 50000)
    assert group(key(53, 5353)) == key(53, 5353)


def test_the_most_come_first() -> None:
    """Flows are listed by how many packets they lost."""
    counts = DropTally()
    counts.count(FlowCount(key(1, 53), 2, 0))
    counts.count(FlowCount(key(1, 80), 5, 0))

    assert [(flow.key.dport, flow.packets) for flow in counts.list_flows()] == [(80, 5), (53, 2)]


def test_flows_beyond_the_memory_are_counted_apart() -> None:
    """More flows than there is place for are still in the total."""
    counts = DropTally()
    for number in range(tally.MOST_FLOWS + 9):
        counts.count(FlowCount(key(1 + number % 30000, 1 + number // 30000), 1, 0))

    assert (counts.total, counts.beyond) == (tally.MOST_FLOWS + 9, 9)
    assert len(counts.list_flows()) == tally.MOST_FLOWS
