"""What was measured of connections, as a table for a terminal and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from podpath.capture.measures import COLUMNS, ConnectionMeasures, list_values
from podpath.report.escape import escape
from podpath.report.style import Style

LISTED = 40
"""Connections that are told to a reader who did not ask for all."""
_HEADS = (
    "state", "history", "time", "packets", "bytes", "byte/s", "again", "order", "dup ACK",
    "window 0", "RTT", "DNS",
)  # fmt: skip
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def render_measures(measured: Sequence[ConnectionMeasures], style: Style) -> str:
    """Render a table, a row for each connection; two numbers are the client's and the server's."""
    shown = measured if style.verbose else measured[:LISTED]
    rows = [_row(one) for one in shown]
    widths = [max(map(len, cells)) for cells in zip(_HEADS, *rows, strict=True)]
    heads = "  ".join(head.rjust(width) for head, width in zip(_HEADS, widths, strict=True))
    lines = [style.paint("head", "Measured"), f"  {heads.rstrip()}"]
    for one, row in zip(shown, rows, strict=True):
        cells = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {cells}  {escape(one.connection)}  {escape(one.point)}")
    if len(measured) > len(shown):
        lines.append(
            f"  {len(measured) - len(shown)} more: -v, --json, --csv or --parquet show all"
        )
    return "\n".join(lines) + "\n"


def render_csv(measured: Sequence[ConnectionMeasures]) -> str:
    """Render a table of all columns; times have nanoseconds, what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in measured:
        writer.writerow([_spell(value) for value in list_values(one)])
    return text.getvalue()


def _spell(value: str | float | None) -> str:
    if isinstance(value, float):
        return f"{value:.9f}".rstrip("0").rstrip(".")
    return "" if value is None else escape(str(value))


def _row(one: ConnectionMeasures) -> tuple[str, ...]:
    return (
        one.state or "-",
        one.history or "-",
        _seconds(one.duration),
        f"{one.client_packets}/{one.server_packets}",
        f"{_short(one.client_bytes)}/{_short(one.server_bytes)}",
        "-" if one.throughput is None else _short(one.throughput),
        _pair(one.client_retransmissions, one.server_retransmissions),
        _pair(one.client_out_of_order, one.server_out_of_order),
        _pair(one.client_duplicate_acks, one.server_duplicate_acks),
        _pair(one.client_zero_windows, one.server_zero_windows),
        _seconds(one.rtt),
        _names(one),
    )


def _names(one: ConnectionMeasures) -> str:
    if not one.dns_queries + one.dns_answers:
        return "-"
    failed = f", {one.dns_failures} failed" if one.dns_failures else ""
    return f"{one.dns_answers} of {one.dns_queries}{failed} {_seconds(one.dns_latency)}"


def _pair(client: int, server: int) -> str:
    if client or server:
        return f"{client}/{server}"
    return "-"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1:
        return f"{value:.3f} s"
    return f"{value * 1000:.3f} ms"


def _short(value: float) -> str:
    for unit, letter in _UNITS:
        if value >= unit:
            return f"{value / unit:.1f}{letter}"
    return f"{value:.0f}"
