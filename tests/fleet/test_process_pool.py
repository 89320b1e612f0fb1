"""The pool of processes: what a bundle does to its process costs one row."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import Connection

import pytest

from podpath_fleet import process_pool
from podpath_fleet.bundle_row import CRASHED, DONE, HUNG, BundleRow, fail_row
from podpath_fleet.paths import BundlePath
from podpath_fleet.process_pool import PoolSettings, read_all


def _misbehave(path: str, identity: str, pool: str) -> BundleRow:
    """Stand for a reader that a hostile bundle crashes, or never lets go."""
    if path == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if path == "hang":
        time.sleep(600)
    return fail_row(path, identity, DONE, pool)


def serve_badly(pipe: Connection, settings: PoolSettings) -> None:
    """Serve with that reader, in a process of its own."""
    process_pool.serve(pipe, settings, _misbehave)


def test_a_bundle_that_crashes_or_hangs_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are read, by processes that take the place of those that ended."""
    monkeypatch.setattr(process_pool, "SERVE", serve_badly)
    asked = [BundlePath(name, name) for name in ("a", "crash", "b", "hang", "c", "crash", "d")]
    rows = list(read_all(iter(asked), PoolSettings(2, 5.0, 4096)))
    states = sorted((row.path, row.state) for row in rows)

    assert states == [
        ("a", DONE), ("b", DONE), ("c", DONE), ("crash", CRASHED), ("crash", CRASHED), ("d", DONE),
        ("hang", HUNG),
    ]  # fmt: skip
    assert {row.why for row in rows if row.state == CRASHED} == {"its process ended by SIGSEGV"}
