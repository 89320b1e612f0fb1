"""What a capture point measures of a connection, as columns of a table."""

from __future__ import annotations

import pytest

from podpath.capture.measures import (
    COLUMNS,
    ConnectionMeasures,
    as_columns,
    as_objects,
    kind_of,
    list_values,
)

MEASURED = ConnectionMeasures(
    connection="tcp 10.0.0.1:1024 > 10.0.0.2:80",
    point="eth0.pcap",
    state="SF",
    history="ShADadFf",
    first=1.0,
    duration=2.0,
    client_packets=4,
    server_packets=3,
    client_bytes=100,
    server_bytes=900,
    client_retransmissions=0,
    server_retransmissions=1,
    client_out_of_order=0,
    server_out_of_order=0,
    client_duplicate_acks=0,
    server_duplicate_acks=0,
    client_zero_windows=0,
    server_zero_windows=0,
    rtt=0.01,
    dns_queries=0,
    dns_answers=0,
    dns_failures=0,
    dns_latency=None,
)


@pytest.mark.parametrize(("duration", "expected"), [(2.0, 500.0), (0.0, None)])
def test_throughput_is_of_both_directions(duration: float, expected: float | None) -> None:
    """A connection that took no time has none."""
    assert expected == MEASURED._replace(duration=duration).throughput


def test_a_row_has_a_value_for_each_column() -> None:
    """The values stand in the order of the columns' names, throughput last."""
    values = list_values(MEASURED)

    assert len(COLUMNS) == len(values)
    assert ("connection", MEASURED.connection) == (COLUMNS[0], values[0])
    assert ("throughput", 500.0) == (COLUMNS[-1], values[-1])


def test_objects_name_their_values() -> None:
    """What is not told stays None."""
    (row,) = as_objects([MEASURED])

    assert tuple(row) == COLUMNS
    assert (900, None) == (row["server_bytes"], row["dns_latency"])


def test_columns_have_types_that_their_values_have() -> None:
    """Each value is of its column's type, or not known."""
    columns = as_columns([MEASURED, MEASURED._replace(rtt=None, duration=0.0)])

    assert list(COLUMNS) == list(columns)
    assert (str, int, float) == tuple(map(kind_of, ("history", "dns_queries", "rtt")))
    assert [0.01, None] == columns["rtt"][1]
    assert all(
        value is None or type(value) is kind
        for kind, values in columns.values()
        for value in values
    )
