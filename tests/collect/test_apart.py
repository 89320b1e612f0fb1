"""Work in a process of its own: its result and its errors come back, nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from podpath.capture.workers import LostError
from podpath.collect.apart import run_apart
from podpath.collect.namespaces import CollectError

PATIENCE = 10.0


def test_the_result_comes_from_another_process_and_changes_nothing_here() -> None:
    """What the work changes, it changes in its own copy."""
    kept: list[int] = []

    def work() -> tuple[int, list[int]]:
        kept.append(1)
        return os.getpid(), kept

    (process, found), _ = run_apart(work)

    assert process != os.getpid()
    assert (found, kept) == ([1], [])


def test_its_errors_are_raised_here() -> None:
    """Those that whoever waits may act upon."""

    def refuse() -> None:
        raise CollectError("expected root")

    with pytest.raises(CollectError, match="expected root"):
        run_apart(refuse)
    with pytest.raises(FileNotFoundError):
        run_apart(lambda: Path("/nowhere").read_text(encoding="utf-8"))


def test_a_process_that_is_killed_is_an_error() -> None:
    """Nobody waits for what it would have said."""
    with pytest.raises(LostError):
        run_apart(lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_it_holds_none_of_our_descriptors_and_yields_to_us() -> None:
    """A program of the kernel's that is attached by a descriptor must go with the first process."""
    reading, writing = os.pipe()

    def work() -> tuple[list[int], int]:
        held = [number for number in (reading, writing) if Path(f"/proc/self/fd/{number}").exists()]
        return held, os.nice(0)

    (held, nice), _ = run_apart(work)
    os.close(reading)
    os.close(writing)

    assert held == []
    assert nice > os.nice(0)


def test_other_threads_go_on_meanwhile() -> None:
    """Python's lock is not held by work that another process does."""
    turns: list[float] = []
    over = threading.Event()

    def turn() -> None:
        while not over.is_set():
            turns.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=turn)
    thread.start()
    count, spent = run_apart(lambda: sum(1 for _ in range(2_000_000)))
    over.set()
    thread.join()

    assert count == 2_000_000
    assert spent > 0
    assert len(turns) > 5


_LASTING = """
import os, sys, time
from podpath.collect.apart import run_apart

def work():
    print(os.getpid(), flush=True)
    time.sleep(60)

run_apart(work)
"""


def test_it_ends_with_whoever_waits_for_it() -> None:
    """Also where that is killed."""
    with subprocess.Popen((sys.executable, "-c", _LASTING), stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        process = Path(f"/proc/{int(first.stdout.readline())}")
        first.kill()
    end = time.monotonic() + PATIENCE
    while _lives(process) and time.monotonic() < end:
        time.sleep(0.01)

    assert not _lives(process)


def _lives(process: Path) -> bool:
    """Tell whether a process runs: one that nobody has waited for yet does not."""
    try:
        return process.joinpath("stat").read_text(encoding="ascii").rpartition(")")[2].split()[
            0
        ] not in {"Z", "X"}
    except OSError:
        return False
