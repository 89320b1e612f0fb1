"""Rows of a layout: which is asked first, what fills their templates, and how a file is parted."""

from __future__ import annotations

from podpath.evidence.layouts.layout import (
    BundleLayout,
    LayoutRow,
    Part,
    outputs,
    place,
    split_parts,
)

ROWS = (
    LayoutRow(r"(?P<netns>[^/]+)/(?P<tool>\w+)\.txt", "{tool} -a {device}"),
    LayoutRow(r".*\.txt", "second"),
)
LAYOUT = BundleLayout("a layout", (), ROWS)


def test_the_first_row_that_fits_decides() -> None:
    """Groups of the path fill the command; what names no group stays for a heading to fill."""
    placed = place(LAYOUT, "web/ss.txt", "n1")
    assert placed is not None
    assert ("ss -a {device}", "web", "n1") == (placed.command, placed.netns, placed.host)
    assert place(LAYOUT, "ss.json") is None


def test_headings_part_a_file() -> None:
    """Each part begins behind its heading, or with it where the heading is the output's own
    line.
    """
    lines = ["=== ip rule", "0: from all lookup local", "=== ip route", "default via 10.0.0.1"]
    told = LayoutRow("", heading=r"=== (?P<command>.+)")
    assert [
        Part("ip rule", ("0: from all lookup local",), 2),
        Part("ip route", ("default via 10.0.0.1",), 4),
    ] == [*split_parts(told, "", lines)]
    kept = LayoutRow("", heading=r"(?P<keep>Name: )")
    assert [Part("ipset list", ("Name: A",), 1), Part("ipset list", ("Name: B",), 2)] == [
        *split_parts(kept, "ipset list", ["Name: A", "Name: B"])
    ]
    named = LayoutRow("", heading=r"Interface (?P<device>\S+)")
    assert [Part("ethtool -S eth0", ("NIC statistics:",), 2)] == [
        *split_parts(named, "ethtool -S {device}", ["Interface eth0", "NIC statistics:"])
    ]


def test_noise_keeps_line_numbers() -> None:
    """Lines that the collector wrote become empty, and the others keep their numbers."""
    assert [Part("x", ("a", "", "b"))] == [
        *split_parts(LayoutRow("", noise="=+"), "x", ["a", "====", "b"])
    ]


def test_rows_of_files_named_after_commands() -> None:
    """A row is made for each command, with what varies left open."""
    (row,) = outputs(
        "cmd/", ("ethtool -k {device}",), lambda command: command.replace(" ", "_"), r"\.md"
    )
    placed = place(BundleLayout("x", (), (row,)), "cmd/ethtool_-k_eth0.md")
    assert placed is not None
    assert placed.command == "ethtool -k eth0"
