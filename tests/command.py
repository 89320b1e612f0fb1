"""The installed `podpath` command, as a user runs it, and what it costs."""

from __future__ import annotations

import functools
import resource
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("podpath")
MEBIBYTE = 1 << 20
IMPORTS = "import argparse, asyncio, email.message, http.client, inspect, typing"
USUAL_SECONDS = 0.11
"""What Python takes of the processor for these on the machine where limits of time were set."""


def podpath(
    *arguments: str | Path, cwd: Path | None = None, timeout: float = 300, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command and give its exit code and output; `memory` bounds its address space, in
    MiB.
    """

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory * MEBIBYTE, memory * MEBIBYTE))

    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
        timeout=timeout, check=False, stdin=subprocess.DEVNULL, preexec_fn=limit,
    )  # fmt: skip


def spent_by_children() -> float:
    """Return the seconds of a processor that programs took which were run to their end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@functools.cache
def slowness() -> float:
    """Return how many times longer this machine takes for the same work than the one where limits
    of time were set; 1 where it is faster.
    """
    taken = []
    for _ in range(5):
        before = spent_by_children()
        subprocess.run([sys.executable, "-I", "-c", IMPORTS], check=True)
        taken.append(spent_by_children() - before)
    return max(1.0, min(taken) / USUAL_SECONDS)
