"""Measures of connections as a table and as CSV."""

from __future__ import annotations

import csv
import io

from podpath.capture.measures import COLUMNS, ConnectionMeasures
from podpath.report.measures_text import LISTED, render_csv, render_measures
from podpath.report.style import Style

ONE = ConnectionMeasures(
    "tcp 10.7.0.5:41000 > 198.18.4.9:443", "eth0.pcap", "SF", "ShADadFf", 1.5, 2.0, 6, 5, 1500,
    2_500_000, 1, 0, 0, 0, 0, 3, 0, 0, 0.0125, 0, 0, 0, None,
)  # fmt: skip


def test_table_has_both_directions_of_each_connection() -> None:
    """Two numbers are the client's and the server's; what is 0 of both is a dash."""
    _, heads, row = render_measures([ONE], Style()).splitlines()

    assert "RTT" in heads
    assert row.split()[:4] == ["SF", "ShADadFf", "2.000", "s"]
    assert {"6/5", "1.5k/2.5M", "1/0", "0/3", "12.500"} <= set(row.split())
    assert row.endswith("tcp 10.7.0.5:41000 > 198.18.4.9:443  eth0.pcap")


def test_long_table_says_what_it_leaves_out() -> None:
    """The first ones are shown, all of them to who asks."""
    many = [ONE] * (LISTED + 2)

    assert "2 more" in render_measures(many, Style())
    assert len(render_measures(many, Style(verbose=True)).splitlines()) == LISTED + 4


def test_csv_has_a_column_for_each_measure() -> None:
    """Unknown values are empty, names are escaped."""
    odd = ONE._replace(point="a\x1b[31m,b.pcap")
    heads, first = csv.reader(io.StringIO(render_csv([odd])))

    assert tuple(heads) == COLUMNS
    values = dict(zip(heads, first, strict=True))
    assert ("0.0125", "", "1250750.0"[:7]) == (
        values["rtt"], values["dns_latency"], values["throughput"]
    )  # fmt: skip
    assert "\x1b" not in values["point"]
