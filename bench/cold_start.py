"""How long a person waits: `podpath --help`, and `podpath diagnose` on each recorded ticket and bundle, from nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measurement import Measurement, emit

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).with_name("podpath"))
ROUNDS = 9
HELP_BOUND, DIAGNOSE_BOUND = 150, 1000
"""Milliseconds."""
UNREADABLE = 2


def wall(*command: str) -> float:
    """Give the median wall time of a command, in milliseconds, after one run that does not count."""
    times = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        times.append((time.perf_counter() - started) * 1000)
        if done.returncode == UNREADABLE:
            raise RuntimeError(done.stderr.decode())
    return statistics.median(times[1:])


def measure() -> Iterator[Measurement]:
    """Measure the help against an interpreter that does nothing, and the diagnosis of every ticket and bundle."""
    bare = wall(sys.executable, "-c", "pass")
    yield Measurement("podpath --help", wall(COMMAND, "--help"), "ms", HELP_BOUND, against="python -c pass", other=bare)
    for incident in sorted(path for path in (ROOT / "examples" / "incidents").iterdir() if path.is_dir()):
        for form in ("ticket.md", "bundle"):
            taken = wall(COMMAND, "diagnose", str(incident / form))
            bound = DIAGNOSE_BOUND if form == "ticket.md" else None
            yield Measurement(
                f"podpath diagnose {incident.name}/{form}", taken, "ms", bound, against="python -c pass", other=bare
            )


if __name__ == "__main__":
    emit(measure())
