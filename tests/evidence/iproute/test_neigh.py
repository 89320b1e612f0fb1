"""`ip neigh`, from text and from JSON."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import NeighbourRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read, recorded, stated


def neighbours(reading: Reading) -> dict[str, NeighbourRecord]:
    """Return the neighbours of a reading by address."""
    return {
        str(record.address): record
        for record in reading.records
        if isinstance(record, NeighbourRecord)
    }


@pytest.mark.parametrize("other", ["ip-j-neigh", "ip-s-neigh"])
def test_text_and_json_give_the_same_records(other: str) -> None:
    """Every field of every neighbour comes out alike; statistics change nothing."""
    assert [stated(record) for record in read(recorded("ip-neigh")).records] == [
        stated(record) for record in read(recorded(other)).records
    ]


def test_states_and_addresses_are_kept() -> None:
    """A failed neighbour has no MAC."""
    found = neighbours(read(recorded("ip-neigh")))

    assert ("eth0", "52:54:00:00:00:01", "PERMANENT") == (
        found["192.168.7.1"].link,
        found["192.168.7.1"].mac,
        found["192.168.7.1"].state,
    )
    assert (None, "FAILED") == (found["192.168.7.200"].mac, found["192.168.7.200"].state)
    assert (("router",), 6) == (found["fd00:7::1"].flags, found["fd00:7::1"].address.family)


def test_the_device_may_come_from_the_command() -> None:
    """`dev eth0` is not repeated in the lines."""
    assert {"eth0"} == {
        record.link for record in neighbours(read(recorded("ip-neigh-dev"))).values()
    }


def test_a_proxy_entry_is_marked() -> None:
    """It says whom the node answers for, not where somebody is."""
    assert [(("proxy",), None)] == [
        (record.flags, record.state)
        for record in neighbours(read(recorded("ip-neigh-proxy"))).values()
    ]


@pytest.mark.parametrize(
    "line",
    [
        "10.0.0.1 dev eth0 lladdr 0a:00:00:00:00:01 REACHABLE",
        "10.0.0.2 dev eth0  FAILED",
        "fe80::1 dev eth0 lladdr 0a:00:00:00:00:01 router STALE",
    ],
)
def test_one_line_is_enough(line: str) -> None:
    """A single neighbour without its command is recognised."""
    assert 1 == len(neighbours(read(block(line))))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("10.0.0.x dev eth0 lladdr 0a:00:00:00:00:01 STALE", "elided"),
        ("10.0.0.1 dev eth0 lladdr xx:xx:xx:xx:xx:xx STALE", "elided"),
        ("10.0.0.1 dev eth0 lladdr 0a:00:00:00:00:01 STALE (why?)", "a word of a neighbour"),
    ],
)
def test_what_cannot_be_read_is_a_gap(line: str, why: str) -> None:
    """The reason says which word."""
    reading = read(block(f"10.9.9.9 dev eth0 lladdr 0a:00:00:00:00:09 STALE\n{line}"))

    assert (1, [(2, True)]) == (
        len(neighbours(reading)),
        [(gap.span.line, why in gap.why) for gap in reading.gaps],
    )


def test_a_tunnel_end_is_no_mac() -> None:
    """On a tunnel device the link-layer address is an IP address."""
    assert [None] == [
        record.mac
        for record in neighbours(
            read(block("10.0.0.1 dev tunl0 lladdr 192.0.2.1 PERMANENT"))
        ).values()
    ]


def test_routes_are_no_neighbours() -> None:
    """An address on a device without a state is a route."""
    found = recognition.recognise(block("10.0.0.1 dev eth0 scope link"))

    assert found is not None
    assert "ip route" == found.name
