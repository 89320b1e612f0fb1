"""`bridge vlan`, in the shapes that iproute2 has printed over time, and in JSON."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import BridgeVlanRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read, recorded, stated

NEW = """
port              vlan-id
br0               1 PVID Egress Untagged
swp1              1 Egress Untagged
                  10-20
                  100 PVID Egress Untagged
"""
OLD = """
port\tvlan ids
br0\t 1 PVID Egress Untagged

swp1\t 1 Egress Untagged
\t 10-20
\t 100 PVID Egress Untagged

"""
JSON = """
[{"ifname":"br0","vlans":[{"vlan":1,"flags":["PVID","Egress Untagged"]}]},
{"ifname":"swp1","vlans":[{"vlan":1,"flags":["Egress Untagged"]},{"vlan":10,"vlanEnd":20},
{"vlan":100,"flags":["PVID","Egress Untagged"]}]}]
"""


def vlans(reading: Reading) -> list[BridgeVlanRecord]:
    """Return the VLANs of a reading."""
    return [record for record in reading.records if isinstance(record, BridgeVlanRecord)]


@pytest.mark.parametrize("text", [NEW, OLD, JSON])
def test_every_shape_gives_the_same_records(text: str) -> None:
    """A VLAN below another one belongs to the same port."""
    assert [
        ("br0", 1, None, True, True),
        ("swp1", 1, None, False, True),
        ("swp1", 10, 20, False, False),
        ("swp1", 100, None, True, True),
    ] == [
        (one.port, one.vlan, one.last, one.pvid, one.untagged) for one in vlans(read(block(text)))
    ]


def test_an_empty_listing_is_its_heading() -> None:
    """A kernel without VLAN filtering prints nothing else."""
    assert ([], 1, ()) == (
        vlans(read(recorded("bridge-vlan"))),
        len(read(recorded("bridge-vlan")).records),
        read(recorded("bridge-vlan")).gaps,
    )


def test_rows_without_their_heading_are_read() -> None:
    """The flags tell them from other tables."""
    assert [1, 40] == [
        one.vlan
        for one in vlans(
            read(block("mgmt-br           1 PVID Egress Untagged\n                  40"))
        )
    ]
    assert None is recognition.recognise(block("web 1\ndb 2"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("port              vlan-id\n                  10", "the port"),
        ("port              vlan-id\nswp1              5000", "up to 4095"),
        ('[{"ifname":"swp1","vlans":[{"flags":["PVID"]}]}]', "without its number"),
        ('[{"ifname":"swp1","vlans":[]},{"ifname":"swp2","vlans":"all"}]', "the VLANs of swp2"),
        ('[{"vlans":[{"vlan":1}]}]', "a device name"),
    ],
)
def test_what_cannot_be_read_is_a_gap(text: str, why: str) -> None:
    """The reason says what is missing."""
    reading = read(block(text))

    assert ([], [True]) == (vlans(reading), [why in gap.why for gap in reading.gaps])


def test_text_and_json_state_the_same() -> None:
    """Field by field."""
    assert [stated(one) for one in vlans(read(block(NEW)))] == [
        stated(one) for one in vlans(read(block(JSON)))
    ]
