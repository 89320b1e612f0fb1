"""`arp -n`, `arp -an` and /proc/net/arp."""

from __future__ import annotations

import pytest

from podpath.evidence.node_records import NeighbourRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read, recorded


def neighbours(reading: Reading) -> list[NeighbourRecord]:
    """Return the neighbours of a reading."""
    return [record for record in reading.records if isinstance(record, NeighbourRecord)]


@pytest.mark.parametrize("name", ["arp-n", "arp-an"])
def test_arp_agrees_with_ip_neigh(name: str) -> None:
    """Addresses, devices and MACs are those of `ip neigh`; only the NUD state is coarser."""
    whole = {
        (one.address, one.link, one.mac)
        for one in neighbours(read(recorded("ip-neigh")))
        if one.address.family == 4
    }

    assert whole == {
        (one.address, one.link, one.mac)
        for one in neighbours(read(recorded(name)))
        if "proxy" not in one.flags
    }


@pytest.mark.parametrize("name", ["arp-n", "arp-an"])
def test_flags_become_states(name: str) -> None:
    """Permanent and incomplete entries are told; of a complete one the state is unknown."""
    found = {str(one.address): (one.state, one.flags) for one in neighbours(read(recorded(name)))}

    assert (("PERMANENT", ()), (None, ()), ("INCOMPLETE", ()), (None, ("proxy",))) == (
        found["192.168.7.1"], found["192.168.7.20"], found["192.168.7.200"], found["192.168.7.99"],
    )  # fmt: skip


def test_the_kernels_own_file_is_read() -> None:
    """/proc/net/arp has flags in hexadecimal; an incomplete entry shows a MAC of zeros that is
    none.
    """
    reading = read(
        block("""
IP address       HW type     Flags       HW address            Mask     Device
10.0.2.2         0x1         0x2         52:55:0a:00:02:02     *        eth0
10.0.2.9         0x1         0x0         00:00:00:00:00:00     *        eth0
10.0.2.8         0x1         0x6         52:55:0a:00:02:08     *        eth0
""")
    )

    assert [
        ("52:55:0a:00:02:02", None),
        (None, "INCOMPLETE"),
        ("52:55:0a:00:02:08", "PERMANENT"),
    ] == [(one.mac, one.state) for one in neighbours(reading)]


def test_an_elided_mac_is_a_gap() -> None:
    """The entry is not believed in part."""
    reading = read(
        block(
            "10.0.0.1   ether   xx:xx:xx:xx:xx:xx   C    eth0\n"
            "10.0.0.2   ether   0a:00:00:00:00:02   C    eth0"
        )
    )

    assert (["10.0.0.2"], [1]) == (
        [str(one.address) for one in neighbours(reading)],
        [gap.span.line for gap in reading.gaps],
    )
