"""What `podpath capture` holds of a capture of any length, and of two that it follows from point
to point: memory at its peak beside the mapped files, and CPU time.

    python bench/long_capture.py [--json] [PACKETS]

With 19,000,000 packets the file has 10 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.made_long_capture import write_capture
from bench.measurement import Measurement, emit

COMMAND = str(Path(sys.executable).with_name("podpath"))
PACKETS = 3_000_000
"""More than are held at once (`collect.long_captures.LONGEST`)."""
FIXED, EACH = 250.0, 8.0
"""The bound: MB, and bytes for each packet."""
SHARES = 1000.0
"""The same, where captures are followed from point to point."""
LOOK_EVERY = 0.01


class Run(NamedTuple):
    """What a run took."""

    peak: float
    """MB of memory that no file stands behind."""
    seconds: float
    """Of CPU time."""


def run(*command: str) -> Run:
    """Run a program, and look at its memory again and again."""
    peak = 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        peak = max(peak, _held(process.pid))
        time.sleep(LOOK_EVERY)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)}: ended with {process.returncode}")
    return Run(peak / 1024, usage.ru_utime + usage.ru_stime)


def _held(pid: int) -> int:
    """Return a process' anonymous memory, in KB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def measure(packets: int) -> Iterator[Measurement]:
    """Measure one capture of about so many packets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.pcap"
        count = write_capture(path, packets)
        name = f"podpath capture, {count / 1e6:.0f} M packets, {path.stat().st_size / 1e9:.1f} GB"
        taken = run(COMMAND, "capture", str(path))
        other = path.with_name("other.pcap")
        other.symlink_to(path)
        followed = run(COMMAND, "capture", str(path), str(other))
    yield Measurement(
        f"{name}: memory beside the mapped files", taken.peak, "MB", FIXED + EACH * count / 1e6
    )
    yield Measurement(f"{name}: CPU per million packets", taken.seconds / count * 1e6, "s")
    twice = f"{name}, followed between two points"
    yield Measurement(
        f"{twice}: memory beside the mapped files",
        followed.peak,
        "MB",
        SHARES + 2 * EACH * count / 1e6,
    )
    yield Measurement(
        f"{twice}: CPU per million packets", followed.seconds / (2 * count) * 1e6, "s"
    )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    emit(measure(numbers[0] if numbers else PACKETS))
