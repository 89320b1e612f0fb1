"""What ethtool, mii-tool and lshw say of a link, in one form."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.nettools.link_mode import read
from podpath.evidence.records import StatementRecord
from podpath.net.addresses import IfName
from podpath.net.statements import LinkMode
from tests.evidence.consoles import block, uncovered

ETHTOOL = """
Settings for eth0:
        Supported ports: [ TP MII ]
        Supported link modes:   10baseT/Half 10baseT/Full
                                1000baseT/Full
        Advertised link modes:  10baseT/Half 10baseT/Full
        Speed: 100Mb/s
        Duplex: Full
        Auto-negotiation: on
        Current message level: 0x00000037 (55)
        Link detected: yes
"""
LSHW = """
  *-network
       description: Ethernet interface
       product: 82562V-2 10/100 Network Connection [8086:10C0]
       logical name: eth0
       serial: 00:21:9b:12:a0:27
       size: 10Mbit/s
       capacity: 1Gbit/s
       configuration: autonegotiation=on broadcast=yes driver=e1000e duplex=full link=yes
"""
OLD_LSHW = """
  *-bridge DISABLED
       logical name: eth0
       size: 100000000
       capacity: 1000000000
"""


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (
            ETHTOOL,
            LinkMode(IfName("eth0"), 100, half=False, negotiated=True, detected=True, most=1000),
        ),
        (LSHW, LinkMode(IfName("eth0"), 10, half=False, negotiated=True, detected=True, most=1000)),
        (OLD_LSHW, LinkMode(IfName("eth0"), 100, most=1000)),
    ],
)
def test_each_tool_says_the_same(text: str, mode: LinkMode) -> None:
    """Speed, duplex, negotiation, link and the fastest mode are read from each."""
    reading = recognition.read(block(text))
    assert reading is not None
    assert [mode] == [one.statement for one in reading.of(StatementRecord)]
    assert () == reading.gaps


def test_mii_tool() -> None:
    """mii-tool says all on one line."""
    reading = read(block("eth0: negotiated 100baseTx-FD, link ok\neth1: no link\n", "mii-tool"))
    assert [
        LinkMode(IfName("eth0"), 100, half=False, detected=True),
        LinkMode(IfName("eth1"), detected=False),
    ] == [one.statement for one in reading.of(StatementRecord)]


def test_a_field_that_is_not_known_is_a_gap() -> None:
    """What no version prints is not passed over."""
    source = block(f"{ETHTOOL.rstrip()}\n        Flux capacitor: charged\n")
    reading = read(source)
    assert ["Flux capacitor: charged"] == [gap.span.text.strip() for gap in reading.gaps]
    assert [] == uncovered(source, reading)
