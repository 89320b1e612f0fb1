"""Counters of a device in the words of three programs."""

from __future__ import annotations

import pytest

from podpath.evidence.text.device_counts import (
    keep_counts,
    read_heading,
    read_pairs,
    read_statistics,
    read_values,
)

HEADING = "    RX: bytes  packets  errors  dropped overrun mcast"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("        RX packets 0  bytes 0 (0.0 B)", (("rx_packets", 0),)),
        ("        RX errors 3  dropped 0  overruns 2  frame 0", (("rx_errors", 3), ("rx_fifo", 2))),
        (
            "          TX packets:12 errors:0 dropped:7 overruns:0 carrier:1",
            (("tx_packets", 12), ("tx_dropped", 7), ("tx_carrier", 1)),
        ),
        ("          RX bytes:0 (0.0 B)  TX bytes:0 (0.0 B)", ()),
        ("        inet 192.0.2.1  netmask 255.255.255.0", ()),
    ],
)
def test_pairs_of_ifconfig(line: str, found: tuple[tuple[str, int], ...]) -> None:
    """Both forms; zeros of what is lost say nothing."""
    assert found == read_pairs(line)


def test_names_and_values_of_ip() -> None:
    """A line of names, the values below it."""
    names = read_heading(HEADING)

    assert ("rx_packets", 9) in read_values(names, "    1234       9        0       4       0    1")
    assert ("rx_dropped", 4) in read_values(names, "    1234       9        0       4       0    1")


@pytest.mark.parametrize("line", ["    link/ether 02:00:00:00:00:01", "    RX packets 0", "RX:"])
def test_other_lines_are_no_heading(line: str) -> None:
    """Not what only begins so."""
    assert () == read_heading(line)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (
            {"rx": {"packets": 0, "over_errors": 2}, "tx": {"packets": 3, "carrier_errors": 1}},
            [("rx_packets", 0), ("rx_over", 2), ("tx_packets", 3), ("tx_carrier", 1)],
        ),
        ({"rx": {"packets": "many"}, "tx": [1]}, []),
        ({}, []),
    ],
)
def test_statistics_of_json(value: dict[str, object], found: list[tuple[str, int]]) -> None:
    """The same by the same names; what is no number is left alone."""
    assert found == list(read_statistics(value))


@pytest.mark.parametrize("line", ["    1234 9 0", "    1234 9 0 4 0 x", ""])
def test_values_of_another_shape_are_none(line: str) -> None:
    """A line that was cut is not guessed."""
    assert () == read_values(read_heading(HEADING), line)


def test_what_passed_is_kept_even_where_it_is_zero() -> None:
    """Nothing received can be the whole story."""
    counts = [("rx_packets", 0), ("rx_bytes", 0), ("tx_dropped", 0), ("tx_carrier", 2)]

    assert [("rx_packets", 0), ("tx_carrier", 2)] == list(keep_counts(counts))
