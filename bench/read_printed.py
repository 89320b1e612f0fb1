"""How fast tcpdump's text is read into packets: lines of TCP, as most of a long capture are, and of anything else."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from bench.measurement import Measurement, emit
from podpath.evidence.tcpdump import read_tcpdump
from podpath.net.provenance import Source

LINES, ROUNDS = 200_000, 5
PLAIN = (
    "2023-11-14 22:{minute:02}:20.{part:06} IP 10.244.1.{host}.{port} > 10.96.0.100.80: Flags [P.], seq {number}:{end}, ack 1, "
    "win 8192, options [nop,nop,TS val {number} ecr 3718914024], length 18: HTTP: GET / HTTP/1.1"
)
DATAGRAM = "22:{minute:02}:20.{part:06} IP6 fd00::{host}.{port} > fd00::2.53: {number}+ A? svc.default.svc.cluster.local. (47)"


def make_lines(shape: str, count: int) -> Source:
    """Print a capture of so many packets."""
    fields = (
        {"minute": at // 997 % 60, "part": at, "host": at % 250, "port": 30_000 + at % 999, "number": at} for at in range(count)
    )
    return Source(
        name="printed", lines=tuple(shape.format(**each, end=each["number"] + 18) for each in fields), command="tcpdump -S"
    )


def rate(source: Source) -> float:
    """Give the lines that are read in a second of CPU time, in millions; the median of some rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        reading = read_tcpdump(source)
        times.append(time.process_time() - started)
        assert len(reading.records) == len(source.lines)
    return len(source.lines) / statistics.median(times) / 1e6


def measure() -> Iterator[Measurement]:
    """Measure lines of one shape, and of another."""
    plain = rate(make_lines(PLAIN, LINES))
    yield Measurement("tcpdump's text: TCP over IPv4, goal 0.4", plain, "M lines/s", more_is_better=True)
    other = rate(make_lines(DATAGRAM, LINES // 10))
    yield Measurement("tcpdump's text: any other line", other, "M lines/s", more_is_better=True)


if __name__ == "__main__":
    emit(measure())
