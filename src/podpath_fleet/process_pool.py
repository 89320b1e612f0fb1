"""A pool of processes that outlives what it is given: a bundle that crashes its process, never ends
or eats memory costs a row with the reason, and a new process takes the next one.

Not `concurrent.futures`: there the death of one process breaks the pool, and nobody can end a task.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, cast

from podpath_fleet.bundle_row import (
    CRASHED,
    HUNG,
    TOO_LARGE,
    BundleRow,
    fail_row,
    read_bundle,
)
from podpath_fleet.paths import BundlePath

_CONTEXT = get_context("spawn")
_RECYCLED = 1000
"""Bundles that a process reads before another takes its place."""
_START = 120.0
"""Seconds that a process may take to start, before the time of its first bundle begins."""
_TICK = 0.5
"""Seconds between two looks at the clock."""


class PoolSettings(NamedTuple):
    """How bundles are read."""

    jobs: int = 2
    timeout: float = 300.0
    """Seconds of wall time that a bundle may take."""
    megabytes: int = 2048
    """Memory that each process may use."""
    pool: str = ""
    """The regular expression that finds the pool in a node's name."""


def serve(
    pipe: Connection,
    settings: PoolSettings,
    read: Callable[[str, str, str], BundleRow] = read_bundle,
) -> None:
    """Read one bundle after another, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit = settings.megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    pipe.send(None)  # it is ready: the time of the first bundle begins
    while True:
        bundle: BundlePath | None = pipe.recv()
        if bundle is None:
            return
        pipe.send(read(bundle.path, bundle.identity, settings.pool))


SERVE = serve
"""What each process runs."""


class _Worker:
    """One process, and the bundle that it reads."""

    def __init__(self, settings: PoolSettings) -> None:
        self._settings = settings
        self.pipe, far = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=SERVE, args=(far, settings), daemon=True)
        self._process.start()
        far.close()
        self.bundle: BundlePath | None = None
        self._until = 0.0
        self._served = 0

    def give(self, bundle: BundlePath) -> None:
        self.bundle = bundle
        start = 0.0 if self._served else _START
        self._until = time.monotonic() + self._settings.timeout + start
        self._served += 1
        with suppress(OSError):  # one that has died meanwhile is found when it is waited for
            self.pipe.send(bundle)

    def take(self) -> BundleRow | None:
        """Return the row of its bundle; where it died over it, the row that says so; None where it
        has only started.
        """
        bundle = cast("BundlePath", self.bundle)
        try:
            row = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(1)
            row = fail_row(*bundle, CRASHED, f"its process ended by {self._how()}")
        if row is None:
            self._until = time.monotonic() + self._settings.timeout
            return None
        self.bundle = None
        return cast("BundleRow", row)

    def is_late(self) -> bool:
        return self.bundle is not None and time.monotonic() > self._until

    def give_up(self) -> BundleRow:
        bundle, self.bundle = cast("BundlePath", self.bundle), None
        self.end()
        why = f"it was not finished after {self._settings.timeout:g} s"
        return fail_row(*bundle, HUNG, why)

    def is_worn(self, row: BundleRow) -> bool:
        """Tell whether another process shall take its place: it is gone, has used most of its
        memory, or has read enough.
        """
        full = row.state == TOO_LARGE or row.megabytes > self._settings.megabytes * 0.6
        return not self._process.is_alive() or full or self._served >= _RECYCLED

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def _how(self) -> str:
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        return signal.Signals(-code).name


def read_all(bundles: Iterable[BundlePath], settings: PoolSettings) -> Iterator[BundleRow]:
    """Yield the row of each bundle as it is done; no more are read at once than there are jobs."""
    left = iter(bundles)
    workers: list[_Worker] = []
    try:
        for bundle in left:
            worker = _Worker(settings)
            worker.give(bundle)
            workers.append(worker)
            if len(workers) == settings.jobs:
                break
        while workers:
            ready = wait([worker.pipe for worker in workers], _TICK)
            for taken in list(workers):
                worker, row = taken, None
                if worker.pipe in ready:
                    row = worker.take()
                elif worker.is_late():
                    row = worker.give_up()
                if row is None:
                    continue
                workers.remove(taken)
                following = next(left, None)
                if worker.is_worn(row) or following is None:
                    with suppress(OSError):
                        worker.end()
                    worker = _Worker(settings) if following is not None else worker
                if following is not None:
                    worker.give(following)
                    workers.append(worker)
                yield row
    finally:
        for worker in workers:
            with suppress(OSError):
                worker.end()
