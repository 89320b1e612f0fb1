"""Neighbour tables and sockets."""

from __future__ import annotations

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.node_records import NeighbourRecord
from podpath.net import protocols
from podpath.net.addresses import Address
from tests.assembly.evidence_text import Output, address, alternative_of, by_hand, case_of

NEIGHBOURS = """
10.1.0.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE
10.1.0.9 dev eth0  FAILED
fe80::1 dev eth0 lladdr 02:00:00:00:00:01 router STALE
"""


def test_neighbours() -> None:
    """Entries keep their state, also those that failed."""
    listed = case_of(Output("ip neigh", NEIGHBOURS)).node.host.neighbours
    assert listed.complete
    assert [(str(item.address), item.mac, item.state) for item in listed.items] == [
        ("10.1.0.1", "02:00:00:00:00:01", "REACHABLE"), ("10.1.0.9", None, "FAILED"),
        ("fe80::1", "02:00:00:00:00:01", "STALE"),
    ]  # fmt: skip


def test_two_macs_of_one_neighbour() -> None:
    """A neighbour with another MAC further down is another state of the node."""
    case = case_of(
        Output("ip neigh show 10.1.0.1", "10.1.0.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE"),
        Output("ip neigh show 10.1.0.1", "10.1.0.1 dev eth0 lladdr 02:00:00:00:00:02 STALE"),
    )
    assert case.node.host.neighbours.items[0].mac == "02:00:00:00:00:01"
    other = alternative_of(case, "MAC of neighbour 10.1.0.1").node.host.neighbours.items[0]
    assert (other.mac, other.state) == ("02:00:00:00:00:02", "STALE")


def test_neighbour_without_a_device_is_a_gap() -> None:
    """An entry whose device was cut off cannot be used."""
    case = assemble_case(
        [
            by_hand(
                lambda span: (NeighbourRecord(span=span, address=address("10.1.0.1"), link=None),)
            )
        ]
    )
    assert [gap.why for gap in case.gaps] == ["expected the device of neighbour 10.1.0.1, saw none"]


def test_sockets() -> None:
    """`ss -tuln` lists every listening socket; a repeated one is one."""
    text = (
        "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\ntcp   LISTEN 0  "
        "    128    0.0.0.0:10250      0.0.0.0:*"
    )
    listed = case_of(Output("ss -tuln", text), Output("ss -tuln", text)).node.host.sockets
    assert listed.complete
    any_of_ipv4 = Address.parse("0.0.0.0")
    assert [(6, 10250, any_of_ipv4)] == [
        (item.protocol, item.port, item.local) for item in listed.items
    ]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ss -tuln", {protocols.TCP, protocols.UDP}),
        ("ss -ln", {protocols.TCP, protocols.UDP}),
        ("ss -tlnp", {protocols.TCP}),
        ("netstat -lnu", {protocols.UDP}),
        ("ss -lx", set()),
        ("ss -tn", set()),
    ],
)
def test_a_listing_of_sockets_speaks_for_its_protocols(command: str, shown: set[int]) -> None:
    """`ss -tln` does not show that nobody listens on a UDP port."""
    text = (
        "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
        "tcp   LISTEN 0 128 0.0.0.0:22 0.0.0.0:*"
    )
    host = case_of(Output(command, text)).node.host

    assert {
        protocol for protocol in (protocols.TCP, protocols.UDP) if host.shows_sockets(protocol)
    } == shown
