"""The table of all formats of logs, and the choice among them by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.formats import sample
from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogReading
from podpath.timeline.formats import (
    access,
    application,
    apt_history,
    audit,
    cri,
    ctime,
    dmesg,
    dpkg,
    journal_export,
    journal_json,
    json_lines,
    klog,
    kubectl_events,
    kubectl_objects,
    logfmt,
    prefixed,
    pretty_json,
    rpm_history,
    stamped,
    syslog,
    syslog_5424,
    syslog_iso,
    yum_history,
)
from podpath.timeline.lines import LineFormat, read_lines

LINE_FORMATS: tuple[LineFormat, ...] = (
    *stamped.EARLY,
    rpm_history.YUM,
    syslog.FORMAT,
    syslog_5424.FORMAT,
    cri.FORMAT,
    dmesg.ISO,
    rpm_history.DNF,
    syslog_iso.FORMAT,
    syslog_iso.FULL,
    klog.FORMAT,
    dmesg.CTIME,
    dmesg.HUMAN,
    dmesg.RELATIVE,
    audit.FORMAT,
    dpkg.FORMAT,
    rpm_history.LAST,
    yum_history.FORMAT,
    journal_json.FORMAT,
    json_lines.FORMAT,
    logfmt.FORMAT,
    application.FORMAT,
    ctime.FORMAT,
    access.FORMAT,
    *stamped.FORMATS,
)
"""Formats with a stamp on each line; where two fit a line the earlier row has it."""


class LogFormat(NamedTuple):
    """One format of logs."""

    name: str
    recognise: Callable[[Sequence[str]], float]
    """Return the share of these lines, 0 to 1, that are of the format."""
    read: Callable[[Source, Clock], LogReading]
    """Read the whole log. Never raises."""
    yearless: bool = False
    of_node: bool = False
    """True where the node itself writes it, in its own zone, and does not name that."""
    sparse: bool = False
    """True where weeks may lie between two events: the last of them does not tell when the log was
    taken.
    """
    loose: bool = False
    """True where the stamp may stand anywhere in a line."""


def _line_format(own: LineFormat) -> LogFormat:
    def recognise(lines: Sequence[str]) -> float:
        """Count the lines that have the shape, and no earlier format's."""
        return sum(_first_shape(line) is own for line in lines) / len(lines)

    def read(source: Source, clock: Clock) -> LogReading:
        return read_lines(source, clock, own, LINE_FORMATS)

    return LogFormat(own.name, recognise, read, own.yearless, own.of_node, own.sparse, own.loose)


def _first_shape(line: str) -> LineFormat | None:
    return next((row for row in LINE_FORMATS if row.shape.match(line)), None)


BLOCK_FORMATS: tuple[LogFormat, ...] = (
    LogFormat(
        "log behind prefixes",
        lambda lines: prefixed.recognise(lines, LINE_FORMATS),
        lambda source, clock: prefixed.read(source, clock, LINE_FORMATS),
        yearless=True,
    ),
    LogFormat("kubectl events", kubectl_events.recognise, kubectl_events.read),
    LogFormat("kubectl get events -o json", kubectl_objects.recognise, kubectl_objects.read),
    LogFormat("apt history", apt_history.recognise, apt_history.read, of_node=True, sparse=True),
    LogFormat("journalctl -o export", journal_export.recognise, journal_export.read),
    LogFormat(
        "journalctl -o verbose",
        journal_export.recognise_verbose,
        journal_export.read_verbose,
        of_node=True,
    ),
    LogFormat("log of JSON objects", pretty_json.recognise, pretty_json.read),
)
"""Formats whose events stand in several lines, or in tables."""
LOG_FORMATS: tuple[LogFormat, ...] = (*BLOCK_FORMATS, *(_line_format(row) for row in LINE_FORMATS))
"""All formats. At equal shares the earlier row wins."""
_BY_LINES = {row.name: row for row in LOG_FORMATS}
LEAST = 0.3
"""The share of lines from which a text is taken for a log: the rest may be traces of stacks, or
another log pasted into it.
"""


_LOOSELY = 0.75
"""What a line counts whose stamp may stand anywhere: any other format that fits goes before."""


def recognise_log(source: Source) -> LogFormat | None:
    """Return the format that fits most lines of a source; None where it is no log."""
    share, best = fit_log(source)
    return best if share >= LEAST else None


def fit_log(source: Source) -> tuple[float, LogFormat | None]:
    """Return the format that fits most lines of a source, and the share of them; 0 and None where
    there are no lines.
    """
    lines = sample(source)
    if not lines:
        return 0.0, None
    degrees = [(row.recognise(lines), row) for row in BLOCK_FORMATS]
    degrees += _fit_lines(lines)
    return max(degrees, key=lambda degree: degree[0])


def _fit_lines(lines: Sequence[str]) -> Iterator[tuple[float, LogFormat]]:
    """Yield the format of most of these lines, and its share of all but comments and what goes on
    below a line with a stamp.
    """
    shapes = [_first_shape(line) for line in lines]
    fitting = Counter(shape.name for shape in shapes if shape is not None)
    for name, count in fitting.most_common(1):
        first = next(place for place, shape in enumerate(shapes) if shape is not None)
        below = " \t#" if count > 1 else "#"
        below += " \t<" if count == 1 and _announces(lines, first) else ""
        aside = sum(
            shape is None and (line[0] == "#" or (place > first and line[0] in below))
            for place, (line, shape) in enumerate(zip(lines, shapes, strict=True))
        )
        share = count / (len(lines) - aside)
        yield share * (_LOOSELY if _BY_LINES[name].loose else 1.0), _BY_LINES[name]


def _announces(lines: Sequence[str], place: int) -> bool:
    """Tell whether a line says that the XML below it is what it is about, as logs of requests and
    responses do.
    """
    below = lines[place + 1] if place + 1 < len(lines) else ""
    return lines[place].rstrip().endswith(":") and below.startswith("<")


def read_log(source: Source, clock: Clock) -> LogReading | None:
    """Read a log with the format that fits it; None where it is no log."""
    found = recognise_log(source)
    if found is not None:
        return found.read(source, clock)
    return None
