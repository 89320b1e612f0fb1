"""`ethtool -k`, `-S` and `-i`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.addresses import IfName
from podpath.net.statements import DeviceCount, OffloadFeature
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return the statements of a block without gaps."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [one.statement for one in reading.records if isinstance(one, StatementRecord)]


def test_offloads_are_read_with_their_device() -> None:
    """The title names the device; what the driver fixed is marked."""
    found = stated("""
Features for flannel.1:
tx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
\ttx-checksum-ip-generic: on
""")

    assert found[1:] == [
        OffloadFeature(IfName("flannel.1"), "tx-checksum-ipv4", False, True),
        OffloadFeature(IfName("flannel.1"), "tx-checksum-ip-generic", True),
    ]


def test_a_grep_takes_its_device_from_the_command() -> None:
    """A filtered list has no title."""
    assert [OffloadFeature(IfName("eth0"), "tx-checksum-ip-generic", True)] == stated(
        "tx-checksum-ip-generic: on", "ethtool -k eth0 | grep generic"
    )


def test_counters_are_read() -> None:
    """A driver's own names stay as they are."""
    assert [DeviceCount(IfName("eth0"), "rx_crc_errors", 7)] == stated(
        "NIC statistics:\n     rx_crc_errors: 7", "ethtool -S eth0"
    )


def test_a_driver_states_no_fact_of_the_path() -> None:
    """`-i` is known and kept as headings."""
    assert [] == stated(
        "driver: e1000e\nversion: 6.1\nfirmware-version: 0.13-4\nbus-info: 0000:00:1f.6",
        "ethtool -i eth0",
    )
