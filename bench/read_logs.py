"""How fast logs are read, format by format, and how long `podpath timeline` takes on a log of a
busy day.

    python bench/read_logs.py [LINES] [--json]

A reader is given a log of that many lines (200,000 unless said) in memory, five times; the median
of its CPU time counts. The command reads a file of a million lines of syslog from disk, in a
process of its own, beside `grep -c` for the window's minutes.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.measurement import Measurement, emit  # the folder above is only now on the path
from bench.read_ruleset import measure  # as above
from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.formats.table import read_log

LINES, RUNS = 200_000, 5
FILE_LINES = 1_000_000
START = datetime(2025, 3, 12, tzinfo=UTC)
CLOCK = Clock(now=(START + timedelta(days=8)).timestamp())
LEAST = 400_000
"""Lines a second of syslog that are promised."""
MESSAGE = "Started Session {0} of user root."
SHAPES: dict[str, Callable[[datetime, int], str]] = {
    "syslog": lambda now, number: f"{now:%b %d %H:%M:%S} kn-04 systemd[1]: "
                                  f"{MESSAGE.format(number)}",
    "syslog with ISO stamps": lambda now, number: f"{now:%Y-%m-%dT%H:%M:%S}.{number:06d}+08:00 "
                                                  f"kn-04 systemd[1]: {MESSAGE}",
    "klog": lambda now, number: f"I{now:%m%d %H:%M:%S}.{number % 1_000_000:06d}       1 "
                                f"proxier.go:111] {MESSAGE}",
    "CRI": lambda now, number: f"{now:%Y-%m-%dT%H:%M:%S}.{number % 1_000_000:06d}123Z stdout F "
                               f"{MESSAGE}",
    "dmesg -T": lambda now, number: f"[{now:%a %b %d %H:%M:%S %Y}] veth{number}: link becomes "
                                    "ready",
    "journalctl -o json": lambda now, number: json.dumps(
        {"__REALTIME_TIMESTAMP": f"{now.timestamp() * 1e6:.0f}", "SYSLOG_IDENTIFIER": "systemd", "MESSAGE": f"{number}"}  # noqa: E501
    ),
}  # fmt: skip


def make_log(shape: Callable[[datetime, int], str], lines: int) -> Iterator[str]:
    """Yield the lines of a day's log, ten or so in a second."""
    step = 86_400 / lines
    for number in range(lines):
        yield shape(START + timedelta(seconds=int(number * step)), number)


def read_rate(shape: Callable[[datetime, int], str], lines: int) -> float:
    """Return the lines that are read in a second of CPU time."""
    source = Source(name="messages", lines=tuple(make_log(shape, lines)))
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        reading = read_log(source, CLOCK)
        seconds.append(time.process_time() - start)
        if reading is None or len(reading.events) != lines or reading.gaps:
            raise SystemExit(f"{lines} lines made, {reading and len(reading.events)} read")
    return lines / statistics.median(seconds)


def main() -> None:
    """Measure and print."""
    lines = next((int(word) for word in sys.argv[1:] if word.isdecimal()), LINES)
    measured = [
        Measurement(
            f"reading {lines:,} lines of {name}", read_rate(shape, lines), "lines/s",
            LEAST if "syslog" in name else None, more_is_better=True,
        )
        for name, shape in SHAPES.items()
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in make_log(SHAPES["syslog"], FILE_LINES))
        command = [
            str(Path(sys.executable).with_name("podpath")),
            "timeline",
            str(path),
            "--failed-at",
            "12:00:00",
            "--timeout",
            "10s",
        ]
        costs = [
            measure(["sh", "-c", '"$@" >/dev/null; test $? -lt 2 -o $? -eq 3', "sh", *command])
            for _ in range(3)
        ]
        greps = [
            measure(["sh", "-c", f"grep -c ' 1[12]:5[0-9]:' {path} >/dev/null"]) for _ in range(3)
        ]
    measured += [
        Measurement(
            f"podpath timeline on {FILE_LINES:,} lines of syslog, CPU",
            statistics.median(cost.seconds for cost in costs), "s",
            against="grep -c of some minutes",
            other=statistics.median(cost.seconds for cost in greps),
        ),
        Measurement(
            f"podpath timeline on {FILE_LINES:,} lines, peak memory",
            max(cost.megabytes for cost in costs), "MB",
        ),
    ]  # fmt: skip
    emit(measured)


if __name__ == "__main__":
    main()
