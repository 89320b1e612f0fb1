"""One row of `iptables -L`."""

from __future__ import annotations

import pytest

from podpath.evidence.iptables.row import (
    ListingColumns,
    list_columns,
    parse_counter,
    parse_header,
    parse_row,
    read_row,
)
from podpath.net.provenance import Source, Span
from podpath.xtables.rule import MatchOption

SPAN = Span(Source(name="ticket.md", lines=("",)), 1, 1)


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        (
            " pkts bytes target     prot opt in     out     source               destination",
            list_columns(),
        ),
        (
            "num   pkts bytes target     prot opt in     out     source               destination",
            list_columns(num=True),
        ),
        (
            "target     prot opt source               destination",
            list_columns(counters=False, devices=False),
        ),
        (
            "num  target     prot opt source     destination",
            list_columns(num=True, counters=False, devices=False),
        ),
        ("target of the packets", None),
    ],
)
def test_the_header_names_the_columns(line: str, columns: ListingColumns | None) -> None:
    """Options of the command add and drop columns."""
    found = parse_header(line)

    assert (found and found.names) == (columns and columns.names)


def test_columns_that_somebody_wrote_anew_are_read_by_their_titles() -> None:
    """They may stand in another order, without `opt`, and between the borders of a table of
    Markdown.
    """
    columns = parse_header("| # | target | source | destination | prot | options |")
    assert columns is not None

    row = parse_row("| 3 | DROP | anywhere | <node-ip> | tcp | tcp dpt:80 |", columns, 4)

    assert row is not None
    assert (row.number, row.target, row.destination, row.protocol, row.text) == (
        3,
        "DROP",
        "<node-ip>",
        "tcp",
        "tcp dpt:80",
    )


def test_a_masked_address_hides_itself_alone() -> None:
    """What else the row says is known, and the rule stays in its place."""
    row = parse_row("0 0 DROP tcp -- eth0 * 10.18x.1.2 0.0.0.0/0 tcp dpt:80", list_columns(), 4)
    assert row is not None

    rule = read_row(row, SPAN, "X", named=False)

    assert rule.unread
    assert rule.hidden == ("source",)
    assert rule.matches


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("14804", 14804),
        ("148K", 148_000),
        ("2M", 2_000_000),
        ("3G", 3 * 10**9),
        ("", None),
        (None, None),
    ],
)
def test_counters_have_units(text: str | None, number: int | None) -> None:
    """iptables rounds to thousands unless told `-x`."""
    assert parse_counter(text) == number


def test_a_blank_target_leaves_the_other_cells_in_place() -> None:
    """A rule that only counts has no target."""
    row = parse_row(
        (
            "    0     0            tcp  --  *      *       0.0.0.0/0            0.0.0.0/0         "
            "   tcp dpt:80"
        ),
        list_columns(),
        4,
    )

    assert row is not None
    assert (row.target, row.protocol, row.inward, row.source, row.text) == (
        None,
        "tcp",
        "*",
        "0.0.0.0/0",
        "tcp dpt:80",
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Chain INPUT (policy ACCEPT)",
        "0 0 ACCEPT tcp",
        "169 packets were dropped -- here and there",
    ],
)
def test_other_lines_are_no_rows(line: str) -> None:
    """A row has all its columns."""
    assert parse_row(line, list_columns(), 4) is None


def test_any_device_has_two_spellings() -> None:
    """`any` is a name for it only where the listing has names for numbers."""
    row = parse_row("0 0 ACCEPT all -- any !eth0 0.0.0.0/0 0.0.0.0/0", list_columns(), 4)
    assert row is not None

    assert read_row(row, SPAN, "X", named=True).selectors == (
        MatchOption("out-interface", ("eth0",), negated=True),
    )
    assert read_row(row, SPAN, "X", named=False).selectors[0] == MatchOption(
        "in-interface", ("any",)
    )
