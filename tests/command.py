"""The installed `podpath` command, as a user runs it, and what it costs."""

from __future__ import annotations

import functools
import io
import multiprocessing
import os
import resource
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path

COMMAND = Path(sys.executable).with_name("podpath")
MEBIBYTE = 1 << 20
PRINTED = ("stdout", "stderr")
WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
IMPORTS = "import argparse, asyncio, email.message, http.client, inspect, typing"
USUAL_SECONDS = 0.11
"""What Python takes of the processor for these on the machine where limits of time were set."""


_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(
    [
        *(f"podpath.cli.{name}" for name in ("diagnose", "trace", "timeline", "check")),
        *(f"podpath.library.{name}" for name in ("diagnosis", "reading", "timeline", "flows")),
    ]
)
"""A process that has read the program already, and of which each run is a fork: to start it takes
longer than most answers do.
"""
_ASKING = threading.Lock()
"""Held where exit codes are read: a start reads those of all that run, and of two readers of one
code, the second reads 255.
"""
_AT_START = ("PYTHON", "LANG", "LC_", "LD_")
_STARTED = {name: value for name, value in os.environ.items() if name.startswith(_AT_START)}
"""What only a program that starts reads of the environment."""


def _become(
    words: Sequence[str],
    folder: Path,
    cwd: Path,
    environment: Mapping[str, str],
    memory: int | None,
) -> None:
    """Be, in a fork, the command that a shell starts; what it prints stands in two files."""
    files: Sequence[tuple[str | Path, int]]
    files = ((os.devnull, os.O_RDONLY), *((folder / name, WRITTEN) for name in PRINTED))
    for number, (path, flags) in enumerate(files):
        os.dup2(os.open(path, flags), number)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, mode, closefd=False))
        for number, mode in enumerate(("r", "w", "w"))
    )
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    limit(memory)
    sys.argv[:] = words
    runpy.run_module("podpath", run_name="__main__")


def limit(memory: int | None) -> None:
    """Bound this process's address space, in MiB."""
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory * MEBIBYTE, memory * MEBIBYTE))


def podpath(
    *arguments: str | Path, cwd: Path | None = None, timeout: float = 300, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command and give its exit code and output; `memory` bounds its address space, in
    MiB.
    """
    words = [str(COMMAND), *map(str, arguments)]
    now = {name: value for name, value in os.environ.items() if name.startswith(_AT_START)}
    if now != _STARTED:
        return start(*arguments, cwd=cwd, timeout=timeout, memory=memory)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        process = _LOADED.Process(
            target=_become, args=(words, folder, cwd or Path.cwd(), dict(os.environ), memory)
        )
        with _ASKING:
            process.start()
        wait((process.sentinel,), timeout)
        with _ASKING:
            code = process.exitcode
            if code is None:
                process.kill()
                process.join()
                raise subprocess.TimeoutExpired(words, timeout)
        out, err = ((folder / name).read_text() for name in PRINTED)
        return subprocess.CompletedProcess(words, code, out, err)


def start(
    *arguments: str | Path, cwd: Path | None = None, timeout: float = 300, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command from its beginning, for whoever measures what that costs."""
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
        timeout=timeout, check=False, stdin=subprocess.DEVNULL,
        preexec_fn=functools.partial(limit, memory),
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
