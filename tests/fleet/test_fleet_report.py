"""The report of a run: the same lists as text, CSV and HTML."""

from __future__ import annotations

import csv
from pathlib import Path

from podpath_fleet.fleet_report import list_answers, render_csv, render_html, render_text
from podpath_fleet.questions import FleetTables
from tests.fleet.made import BROKEN


def test_the_report_is_text_csv_and_html(out: Path) -> None:
    """All three have the outlier; the page runs nothing, and markup of a bundle stays text."""
    lists = list_answers(FleetTables(str(out)))
    name = f"web-{3 * BROKEN:05d}"

    assert name in render_text(lists)
    assert any(name in row for row in csv.reader(render_csv(lists).splitlines()))
    page = render_html((lists[2]._replace(rows=[("<script>",)]), *lists))
    assert name in page
    assert "<script>" not in page
    assert "default-src 'none'" in page


def test_a_spreadsheet_computes_nothing(out: Path) -> None:
    """A node's name, or a line of iptables-save, is no formula; numbers stay numbers."""
    lists = list_answers(FleetTables(str(out)))
    name = '=HYPERLINK("http://example.invalid","x")'
    row = (name, "-A FORWARD -j DROP", "@SUM(1)", -3, "plain")
    text = render_csv((lists[2]._replace(rows=[row]),))
    *_, cells = csv.reader(text.splitlines())

    assert cells[1:] == [f"'{name}", "'-A FORWARD -j DROP", "'@SUM(1)", "-3", "plain"]
