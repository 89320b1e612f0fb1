"""The same function for each bundle on workers of Dask, which are elsewhere and may die."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any, cast

from podpath.net.errors import MissingExtra
from podpath_fleet.bundle_row import CRASHED, HUNG, BundleRow, fail_row, read_bundle
from podpath_fleet.paths import BundlePath
from podpath_fleet.process_pool import PoolSettings

SCHEME = "dask://"
_AHEAD = 2
"""Bundles that are handed out for each thread of a worker."""
_TICK = 1.0


def read_all_by_dask(
    engine: str, bundles: Iterable[BundlePath], settings: PoolSettings
) -> Iterator[BundleRow]:
    """Yield the row of each bundle as it is done by the workers of a scheduler
    (`dask://HOST:PORT`).

    Dask hands the bundles of a worker that dies to others; one at which several died is a row that
    says so. The worker of a bundle that takes too long is started anew.
    """
    distributed = load_distributed()
    with distributed.Client(f"tcp://{engine.removeprefix(SCHEME)}") as client:
        yield from _drive(distributed, client, iter(bundles), settings)


def load_distributed() -> Any:  # noqa: ANN401 - a module that may be missing
    """Import Dask; `MissingExtra` where it is not installed."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise MissingExtra(
            "--engine dask:// needs more: pip install 'podpath-fleet[dask]'"
        ) from error


def _drive(
    distributed: Any,  # noqa: ANN401 - as above
    client: Any,  # noqa: ANN401 - as above
    left: Iterator[BundlePath],
    settings: PoolSettings,
) -> Iterator[BundleRow]:
    under_way: dict[Any, tuple[BundlePath, float]] = {}
    while True:
        threads = max(sum(client.nthreads().values()), 1)
        for bundle in islice(left, max(_AHEAD * threads - len(under_way), 0)):
            future = client.submit(read_bundle, *bundle, settings.pool, pure=False)
            under_way[future] = (bundle, time.monotonic())
        if not under_way:
            return
        try:
            distributed.wait(list(under_way), timeout=_TICK, return_when="FIRST_COMPLETED")
        except TimeoutError:
            yield from _give_up_late(client, under_way, settings)
            continue
        for future in [one for one in under_way if one.done()]:
            bundle, _ = under_way.pop(future)
            yield _take(future, bundle)


def _take(future: Any, bundle: BundlePath) -> BundleRow:  # noqa: ANN401 - as above
    if future.status == "finished":
        return cast("BundleRow", future.result())
    error = future.exception() if future.status == "error" else None
    return fail_row(*bundle, CRASHED, f"no worker finished it: {type(error).__name__}")


def _give_up_late(
    client: Any,  # noqa: ANN401 - as above
    under_way: dict[Any, tuple[BundlePath, float]],
    settings: PoolSettings,
) -> Iterator[BundleRow]:
    """Yield the rows of bundles that take too long, and start their workers anew."""
    allowed = settings.timeout * (_AHEAD + 1)  # some wait for others first
    late = [one for one, (_, since) in under_way.items() if time.monotonic() - since > allowed]
    for future in late:
        holders = [name for name, keys in client.processing().items() if future.key in keys]
        bundle, _ = under_way.pop(future)
        future.cancel(force=True)
        if holders:
            client.restart_workers(holders)
        yield fail_row(*bundle, HUNG, f"it was not finished after {allowed:g} s")
