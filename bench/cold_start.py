"""How long a person waits: `podpath --help`, and `podpath diagnose` on each recorded ticket and bundle, from nothing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.measurement import Measurement, emit

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).with_name("podpath"))
ROUNDS = 9
HELP_BOUND, DIAGNOSE_BOUND = 150, 1000
"""Milliseconds."""
UNREADABLE = 2


def cost(*command: str) -> float:
    """Give the median CPU time of a command, in milliseconds, after one run that does not count.

    Nothing here waits for anything, so on an idle machine it is the wall time too; on a busy one it still tells.
    """
    times = []
    for _ in range(ROUNDS + 1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == UNREADABLE:
            raise SystemExit(f"{' '.join(command)}: ended with {UNREADABLE}")
        times.append((usage.ru_utime + usage.ru_stime) * 1000)
    return statistics.median(times[1:])


def measure() -> Iterator[Measurement]:
    """Measure the help against an interpreter that does nothing, and the diagnosis of every ticket and bundle."""
    bare = cost(sys.executable, "-c", "pass")
    yield Measurement("podpath --help, CPU", cost(COMMAND, "--help"), "ms", HELP_BOUND, against="python -c pass", other=bare)
    for incident in sorted(path for path in (ROOT / "examples" / "incidents").iterdir() if path.is_dir()):
        for form in ("ticket.md", "bundle"):
            taken = cost(COMMAND, "diagnose", str(incident / form))
            bound = DIAGNOSE_BOUND if form == "ticket.md" else None
            yield Measurement(
                f"podpath diagnose {incident.name}/{form}, CPU", taken, "ms", bound, against="python -c pass", other=bare
            )


if __name__ == "__main__":
    emit(measure())
