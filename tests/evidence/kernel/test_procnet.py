"""/proc/net/route, dev and bonding."""

from __future__ import annotations

from podpath.evidence.node_records import RouteRecord
from podpath.evidence.records import StatementRecord
from podpath.net.addresses import IfName
from podpath.net.statements import BondState, DeviceCount
from tests.evidence.consoles import block, read


def test_routes_are_in_the_machines_order() -> None:
    """The bytes of an address stand the other way round."""
    reading = read(
        block("""
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
""")
    )
    routes = [one for one in reading.records if isinstance(one, RouteRecord)]

    assert ["default", "192.168.1.0/24"] == [str(one.prefix) for one in routes]
    assert str(routes[0].nexthops[0].gateway) == "192.168.1.1"


def test_packets_and_losses_count() -> None:
    """What passed, zero or not, and of what was lost what is not zero."""
    reading = read(
        block("""
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0: 100 2 3 0 0 0 0 0 50 1 0 0 0 0 0 0
""")  # noqa: E501
    )
    counts = (("rx_packets", 2), ("rx_errors", 3), ("tx_packets", 1))
    assert [DeviceCount(IfName("eth0"), name, value) for name, value in counts] == [
        one.statement for one in reading.records if isinstance(one, StatementRecord)
    ]


def test_a_bond_tells_its_slaves_and_its_partner() -> None:
    """The command names the bond."""
    text = """
Ethernet Channel Bonding Driver: v3.7.1 (April 27, 2011)

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up
\tPartner Mac Address: 00:00:00:00:00:00

Slave Interface: eno1
MII Status: down
"""
    reading = read(block(text, "cat /proc/net/bonding/bond1"))
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    bonds = [one for one in found if isinstance(one, BondState)]

    assert {"bond1"} == {one.bond for one in bonds}
    assert (False, "eno1") == (bonds[-1].up, bonds[-1].slave)
    assert bonds[2].partner == "00:00:00:00:00:00"


def test_a_slave_tells_its_aggregator_and_its_own_partner() -> None:
    """What the slave itself sends is no word of the partner."""
    text = """
Ethernet Channel Bonding Driver: v5.15.0

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up

802.3ad info
Active Aggregator Info:
\tAggregator ID: 1

Slave Interface: eno2
MII Status: up
Aggregator ID: 2
details actor lacp pdu:
    system mac address: 52:54:00:00:00:01
details partner lacp pdu:
    system mac address: 00:00:00:00:00:00
"""
    reading = read(block(text, "cat /proc/net/bonding/bond1"))
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    bonds = [one for one in found if isinstance(one, BondState)]

    assert not reading.gaps
    assert ["2"] == [one.aggregator for one in bonds if one.aggregator]
    assert ["00:00:00:00:00:00"] == [one.partner for one in bonds if one.partner]
    assert all(one.slave == "eno2" for one in bonds if one.partner or one.aggregator)
