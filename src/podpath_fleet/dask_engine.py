"""The same function for each bundle on workers of Dask, which are elsewhere and may die."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from statistics import fmean
from typing import Any, NamedTuple, cast

from podpath.net.errors import MissingExtra
from podpath_fleet.bundle_row import CRASHED, HUNG, BundleRow, fail_row, read_bundle
from podpath_fleet.paths import BundlePath
from podpath_fleet.process_pool import PoolSettings

SCHEME = "dask://"
_AHEAD = 2
"""Tasks that are handed out for each thread of a worker."""
_TASK = 2.0
"""Seconds of CPU time that one task is made to take: Dask spends 7 ms on any, 9 % of a bundle."""
_START = 30.0
"""Seconds that a worker may take to start, before the time of a bundle begins."""
_TICK = 1.0


class _Task(NamedTuple):
    """Bundles that one worker reads one after another."""

    bundles: tuple[BundlePath, ...]
    since: float


def read_all_by_dask(
    engine: str, bundles: Iterable[BundlePath], settings: PoolSettings
) -> Iterator[BundleRow]:
    """Yield the row of each bundle as it is done by the workers of a scheduler
    (`dask://HOST:PORT`).

    Dask hands the bundles of a worker that dies to others. Those at which several died, or that
    take too long together, are read again at the end, one at a time and with nothing beside it,
    which tells the one that is to blame: its row says so.
    """
    distributed = load_distributed()
    with distributed.Client(f"tcp://{engine.removeprefix(SCHEME)}") as client:
        suspects: list[BundlePath] = []
        yield from _Handout(distributed, client, settings).read(bundles, suspects)
        for bundle in suspects:
            yield from _read_alone(distributed, client, settings, bundle)


def load_distributed() -> Any:  # noqa: ANN401 - a module that may be missing
    """Import Dask; `MissingExtra` where it is not installed."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingExtra(
            "--engine dask:// needs more: pip install 'podpath-fleet[dask]'"
        ) from error


def read_several(bundles: tuple[BundlePath, ...], pool: str) -> list[BundleRow]:
    """Read one bundle after another, on a worker."""
    return [read_bundle(*bundle, pool) for bundle in bundles]


READ = read_several
"""What each worker runs."""


class _Handout:
    """Bundles that workers read side by side."""

    def __init__(
        self,
        distributed: Any,  # noqa: ANN401 - as above
        client: Any,  # noqa: ANN401 - as above
        settings: PoolSettings,
    ) -> None:
        self._distributed = distributed
        self._client = client
        self._settings = settings
        self._under_way: dict[Any, _Task] = {}
        self._seconds: deque[float] = deque(maxlen=64)
        """What the bundles before took."""

    def read(
        self, bundles: Iterable[BundlePath], suspects: list[BundlePath]
    ) -> Iterator[BundleRow]:
        """Yield the rows of bundles; add those to the suspects that have none."""
        left = deque(bundles)
        while left or self._under_way:
            self._hand_out(left)
            with suppress(TimeoutError):
                self._distributed.wait(
                    list(self._under_way), timeout=_TICK, return_when="FIRST_COMPLETED"
                )
            for future in [one for one in self._under_way if one.done()]:
                task = self._under_way.pop(future)
                if future.status == "finished":
                    rows = cast("list[BundleRow]", future.result())
                    self._seconds += [row.seconds for row in rows]
                    yield from rows
                else:
                    suspects += task.bundles
            suspects += self._give_up_late()

    def _hand_out(self, left: deque[BundlePath]) -> None:
        places = _AHEAD * max(sum(self._client.nthreads().values()), 1)
        while left and len(self._under_way) < places:
            fair = -(-len(left) // places)  # so that all end at about one time
            usual = _TASK / max(fmean(self._seconds), 0.001) if self._seconds else 1
            size = max(min(int(usual), fair), 1)
            bundles = tuple(left.popleft() for _ in range(size))
            future = self._client.submit(READ, bundles, self._settings.pool, pure=False)
            self._under_way[future] = _Task(bundles, time.monotonic())

    def _give_up_late(self) -> Iterator[BundlePath]:
        """Yield the bundles of tasks that take too long, and start their workers anew."""
        allowed = self._settings.timeout * (_AHEAD + 1)  # some wait for others first
        now = time.monotonic()
        for future in [one for one, task in self._under_way.items() if now - task.since > allowed]:
            _end(self._client, future)
            yield from self._under_way.pop(future).bundles


def _read_alone(
    distributed: Any,  # noqa: ANN401 - as above
    client: Any,  # noqa: ANN401 - as above
    settings: PoolSettings,
    bundle: BundlePath,
) -> Iterator[BundleRow]:
    """Yield the row of a bundle that workers have nothing beside; where they do not finish it, the
    one that says so.
    """
    future = client.submit(READ, (bundle,), settings.pool, pure=False)
    try:
        distributed.wait([future], timeout=settings.timeout + _START)
    except TimeoutError:
        _end(client, future)
        yield fail_row(*bundle, HUNG, f"it was not finished after {settings.timeout:g} s")
        return
    if future.status == "finished":
        yield from cast("list[BundleRow]", future.result())
        return
    error = future.exception() if future.status == "error" else None
    yield fail_row(*bundle, CRASHED, f"no worker finished it: {type(error).__name__}")


def _end(client: Any, future: Any) -> None:  # noqa: ANN401 - as above
    """Cancel a task, and start the workers anew that are at it."""
    holders = [name for name, keys in client.processing().items() if future.key in keys]
    future.cancel(force=True)
    if holders:
        client.restart_workers(holders)
