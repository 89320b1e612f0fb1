"""`ip -br link` and `ip -br addr`."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.node_records import AddressRecord, LinkRecord
from tests.evidence.consoles import block, read, recorded


def test_brief_links_state_what_the_long_listing_states() -> None:
    """Name, peer, state, MAC and flags agree with `ip link`."""
    brief = [
        record for record in read(recorded("ip-br-link")).records if isinstance(record, LinkRecord)
    ]
    whole = [
        record for record in read(recorded("ip-link")).records if isinstance(record, LinkRecord)
    ]

    assert [
        (one.name, one.peer_name, one.peer_ifindex, one.state, one.mac, one.flags) for one in whole
    ] == [
        (one.name, one.peer_name, one.peer_ifindex, one.state, one.mac, one.flags) for one in brief
    ]


def test_brief_addresses_state_what_the_long_listing_states() -> None:
    """Device, address, length and peer agree with `ip addr`, in order."""
    brief = [
        record
        for record in read(recorded("ip-br-addr")).records
        if isinstance(record, AddressRecord)
    ]
    whole = [
        record for record in read(recorded("ip-addr")).records if isinstance(record, AddressRecord)
    ]

    assert [(one.link, one.address, one.length, one.peer) for one in whole] == [
        (one.link, one.address, one.length, one.peer) for one in brief
    ]


def test_one_line_with_an_address_is_enough() -> None:
    """A fragment is recognised by state and address; an elided address is a gap."""
    reading = read(block("eth0@if12        UP             10.244.1.5/24 10.x.x.x/24"))

    assert ["LinkRecord", "AddressRecord"] == [type(record).__name__ for record in reading.records]
    assert [True] == ["elided" in gap.why for gap in reading.gaps]


def test_an_elided_mac_is_a_gap() -> None:
    """The device is known all the same."""
    reading = read(block("eth0             UP             xx:xx:xx:xx:xx:xx <BROADCAST,UP>"))

    assert [None] == [record.mac for record in reading.records if isinstance(record, LinkRecord)]
    assert [True] == ["elided" in gap.why for gap in reading.gaps]


def test_a_table_of_states_is_no_brief_listing() -> None:
    """A name and UP alone may stand in any table."""
    assert None is recognition.recognise(block("web-1    UP\nweb-2    DOWN"))
