"""How long a person waits from nothing: the help, a diagnosis of each recorded ticket and bundle, a
capture of 100,000 packets.

Modules are compiled beforehand, as an installation does it, also where the environment forbids the
interpreter to.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.made_capture import make_capture
from bench.measurement import Measurement, emit

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).with_name("podpath"))
ROUNDS, WALL_ROUNDS = 9, 60
HELP_BOUND, DIAGNOSE_BOUND, CAPTURE_BOUND = 100, 1000, 500
"""Milliseconds."""
HELP_WALL_BOUND = 150
"""Milliseconds that pass until the help is there; those of the quickest run, as others may be busy.
"""
PACKETS = 100_000
UNREADABLE = 2


class Run(NamedTuple):
    """What a run of a command took, in milliseconds."""

    cpu: float
    wall: float


def cost(compiled: str, *command: str) -> float:
    """Return the median CPU time of a command, in milliseconds.

    Nothing here waits for anything, so on an idle machine it is the wall time too; on a busy one it
    still tells.
    """
    return statistics.median(run.cpu for run in run_often(compiled, ROUNDS, command))


def run_often(compiled: str, rounds: int, command: Sequence[str]) -> list[Run]:
    """Run a command so often, after one run that does not count; `compiled` keeps its bytecode."""
    runs = []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**inherited, "PYTHONPYCACHEPREFIX": compiled}
    nowhere = subprocess.DEVNULL
    for _ in range(rounds + 1):
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=environment, stdin=nowhere, stdout=nowhere, stderr=nowhere
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == UNREADABLE:
            raise SystemExit(f"{' '.join(command)}: ended with {UNREADABLE}")
        runs.append(Run((usage.ru_utime + usage.ru_stime) * 1000, wall * 1000))
    return runs[1:]


def measure() -> Iterator[Measurement]:
    """Measure each against an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        bare = cost(folder, sys.executable, "-c", "pass")
        quickest = min(run.wall for run in run_often(folder, WALL_ROUNDS, (COMMAND, "--help")))
        yield Measurement(
            f"podpath --help, wall, least of {WALL_ROUNDS}", quickest, "ms", HELP_WALL_BOUND
        )
        for name, bound, arguments in list_commands(Path(folder)):
            taken = cost(folder, COMMAND, *arguments)
            yield Measurement(
                f"podpath {name}, CPU", taken, "ms", bound, against="python -c pass", other=bare
            )


def list_commands(folder: Path) -> Iterator[tuple[str, int | None, tuple[str, ...]]]:
    """Yield each command with its name and bound."""
    yield "--help", HELP_BOUND, ("--help",)
    capture = folder / "made.pcap"
    made = make_capture(PACKETS)
    capture.write_bytes(made.data)
    yield f"capture, {made.packets:,} packets", CAPTURE_BOUND, ("capture", str(capture))
    for incident in sorted(
        path for path in (ROOT / "examples" / "incidents").iterdir() if path.is_dir()
    ):
        for form in ("ticket.md", "bundle"):
            yield (
                f"diagnose {incident.name}/{form}",
                DIAGNOSE_BOUND if form == "ticket.md" else None,
                ("diagnose", str(incident / form)),
            )


if __name__ == "__main__":
    emit(measure())
