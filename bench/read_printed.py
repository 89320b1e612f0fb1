"""How fast tcpdump's text is read: a million lines that tcpdump prints of a made capture, and short
texts line by line.

A long text becomes columns; beside it stands what the module `re` takes to find the same fields in
the same text with one expression and to make nothing of them. Short texts give a record for each
line. All figures are CPU time.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.made_capture import make_capture
from bench.measurement import Measurement, emit
from podpath.collect.printed import read_text
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import Source

PACKETS, PARTS, SHORT, ROUNDS = 1_000_000, 20, 20_000, 5
GOAL = 0.4
PLAIN = (
    "2023-11-14 22:{minute:02}:20.{part:06} IP 10.244.1.{host}.{port} > 10.96.0.100.80: Flags "
    "[P.], seq {number}:{end}, ack 1, win 8192, options [nop,nop,TS val {number} ecr 3718914024], "
    "length 18: HTTP: GET / HTTP/1.1"
)
DATAGRAM = (
    "22:{minute:02}:20.{part:06} IP6 fd00::{host}.{port} > fd00::2.53: {number}+ A? "
    "svc.default.svc.cluster.local. (47)"
)
PEER = re.compile(
    r"^(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) IP6? (\S+)\.(\d+) > (\S+)\.(\d+): "
    r"(?:Flags \[([^]]*)\],(?: seq (\d+)(?::\d+)?,)?(?: ack (\d+),)? win (\d+),"
    r"(?: options \[[^]]*\],)? length (\d+))?",
    re.MULTILINE,
)
COMMAND = str(Path(sys.executable).with_name("podpath"))
UNIT = "M lines/s"


def make_lines(shape: str, count: int) -> Source:
    """Print so many packets of one shape."""
    fields = (
        {
            "minute": at // 997 % 60,
            "part": at,
            "host": at % 250,
            "port": 30_000 + at % 999,
            "number": at,
        }
        for at in range(count)
    )
    lines = tuple(shape.format(**each, end=each["number"] + 18) for each in fields)
    return Source(name="printed", lines=lines, command="tcpdump -S")


def median(work: Callable[[], object]) -> float:
    """Return the median CPU time of some rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def print_captures(folder: Path, *options: str) -> Path:
    """Let tcpdump print made captures, one after the other: with many connections in one it looks
    long for each.
    """
    text = folder / "made.txt"
    with text.open("wb") as out:
        for seed in range(PARTS):
            capture = folder / f"{seed}.pcap"
            if not capture.exists():
                capture.write_bytes(make_capture(PACKETS // PARTS, seed=seed).data)
            command = ["tcpdump", "-nn", *options, "-r", str(capture)]
            subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=True)
    return text


def read_long(path: Path) -> int:
    """Read a text from a fresh memory map; give its packets."""
    with path.open("rb") as file:
        read = read_text(path.name, memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)))
    assert read is not None
    return len(read.packed.capture.packets)


def find_all(path: Path) -> int:
    """Find the fields of each line with one expression; give how many lines had them."""
    return sum(1 for _ in PEER.finditer(path.read_text(encoding="ascii")))


def run_command(path: Path) -> tuple[float, float]:
    """Give the CPU seconds that `podpath capture` takes for a file, and the MB that it has at its
    peak beside the mapped file.
    """
    process = subprocess.Popen([COMMAND, "capture", str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in {0, 1, 3}
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024 - path.stat().st_size / (1 << 20)


def measure_long() -> Iterator[Measurement]:
    """Measure a long text."""
    with tempfile.TemporaryDirectory() as name:
        path = print_captures(Path(name), "-tttt", "-S")
        millions = read_long(path) / 1e6
        taken, peer = median(lambda: read_long(path)), median(lambda: find_all(path))
        title = f"tcpdump -nn -tttt -S, {millions:.1f} million lines to columns"
        yield Measurement(
            title, millions / taken, UNIT, GOAL, True, "re.finditer, same text", millions / peer
        )
        seconds, peak = run_command(path)
        yield Measurement("podpath capture of the same text, CPU", seconds, "s")
        yield Measurement(
            "podpath capture of the same text, peak memory beside the file", peak, "MB"
        )
        path = print_captures(Path(name), "-e")
        yield Measurement(
            "tcpdump -nn -e, to columns",
            millions / median(lambda: read_long(path)),
            UNIT,
            GOAL,
            True,
        )


def measure_short() -> Iterator[Measurement]:
    """Measure lines that become records."""
    for name, shape in (("TCP over IPv4", PLAIN), ("any other line", DATAGRAM)):
        source = make_lines(shape, SHORT)
        assert len(read_tcpdump(source).records) == SHORT
        taken = median(partial(read_tcpdump, source))
        yield Measurement(f"a short text line by line: {name}", SHORT / taken / 1e6, UNIT)


def measure() -> Iterator[Measurement]:
    """Measure both."""
    if shutil.which("tcpdump") is not None:
        yield from measure_long()
    yield from measure_short()


if __name__ == "__main__":
    emit(measure())
