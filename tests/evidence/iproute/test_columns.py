"""Listings of ip of which a filter shows some columns."""

from __future__ import annotations

import pytest

from podpath.evidence.iproute.columns import read_columns, recognise_columns
from podpath.evidence.node_records import AddressRecord, LinkRecord, RouteRecord
from podpath.evidence.records import Record
from podpath.net.provenance import Source


def source(command: str, *lines: str) -> Source:
    """Make the answer of a command."""
    return Source(name="ticket.md", lines=lines, first_line=3, command=command)


def spell(record: Record) -> str:
    """Write down what a record states."""
    if isinstance(record, LinkRecord):
        return f"{record.name} {record.state}"
    if isinstance(record, AddressRecord):
        return f"{record.address}/{record.length} {record.link}"
    if isinstance(record, RouteRecord):
        table = f" table {record.table}" if record.table else ""
        return f"{record.prefix} {record.nexthops[0].gateway} {record.nexthops[0].link}{table}"
    return ""


@pytest.mark.parametrize(
    ("command", "lines", "found"),
    [
        ("ip -br link | awk '{print $1}'", ("lo", "eth0@if7"), ["lo None", "eth0 None"]),
        ("ip -br l | awk '{print $1,$2}' | sort", ("ens3 DOWN",), ["ens3 DOWN"]),
        (
            "ip -br -4 addr | awk '{print $1, $3}'",
            ("ens3 10.0.0.5/24",),
            ["10.0.0.5/24 ens3", "ens3 None"],
        ),
        (
            "ip -o -4 addr show | awk '{print $2\": \"$4}'",
            ("ens3: 10.0.0.5/24", "cni0: 10.244.1.1/24"),
            ["10.0.0.5/24 ens3", "ens3 None", "10.244.1.1/24 cni0", "cni0 None"],
        ),
        (
            "ip route | awk '/default/ {print $3,$5}'",
            ("10.0.0.1 ens3",),
            ["default 10.0.0.1 ens3"],
        ),
        ("ip -6 route show default | awk '{print $3}'", ("fe80::1",), ["default fe80::1 None"]),
        (
            "ip route show table 100 | awk '$1 == \"default\" {print $1,$3}'",
            ("default 10.0.0.1",),
            ["default 10.0.0.1 None table 100"],
        ),
    ],
)
def test_what_the_words_state(command: str, lines: tuple[str, ...], found: list[str]) -> None:
    """The command says which column each word is of."""
    assert recognise_columns(source(command, *lines)) > 0
    assert found == [spell(one) for one in read_columns(source(command, *lines)).records]


@pytest.mark.parametrize(
    "command",
    [
        "ip link | awk '{print $1}'",
        "ip route | awk '{print $1,$3}'",
        "ip route | awk '$1!=\"default\" {print $1,$3}'",
        "ip route | awk '/default|10.0.0.0/ {print $1,$3}'",
        "ip route | awk '/default/ {print $5}'",
        "ip route show dev lo | awk '/default/ {print $3,$5}'",
        "ip route show table all | awk '/default/ {print $3}'",
        "ip route get 10.0.0.1 | awk '/default/ {print $3}'",
        "ip -br link | awk '{print $4}'",
        "ip -br link",
        "bridge -br link | awk '{print $1}'",
        "ls | awk '{print $1}'",
    ],
)
def test_columns_that_move(command: str) -> None:
    """Where a listing has no fixed columns, nobody knows what a word was."""
    assert recognise_columns(source(command, "lo")) == 0
    assert recognise_columns(source(command, "default 10.0.0.1")) == 0


def test_a_word_that_is_no_such_thing() -> None:
    """It is not read, and its line is a gap."""
    asked = "ip -br addr | awk '{print $1,$2,$3}'"
    reading = read_columns(source(asked, "ens3 WET 10.0.0.5/24", "ens4 UP ten", "ens5 UP"))

    assert reading.records == ()
    assert [one.span.line for one in reading.gaps] == [3, 4, 5]


def test_a_route_of_another_kind() -> None:
    """A default route without a gateway has its device where others have one: it is a gap."""
    asked = "ip route | awk '/default/ {print $1,$3}'"
    reading = read_columns(source(asked, "default tun0", "local 10.0.0.1"))

    assert reading.records == ()
    assert [one.span.line for one in reading.gaps] == [3, 4]
