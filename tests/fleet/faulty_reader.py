"""A reader for workers of Dask, to which bundles do what their names say."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace

from podpath_fleet.paths import BundlePath


def read_faulty(bundles: tuple[BundlePath, ...], _pool: str) -> list[SimpleNamespace]:
    """Read nothing: die, fail or hang where a bundle's name says so."""
    rows = []
    for bundle in bundles:
        if bundle.path == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if bundle.path == "fails":
            raise AssertionError(bundle.path)
        if bundle.path == "hangs":
            time.sleep(3600)
        rows.append(SimpleNamespace(identity=bundle.identity, state="done", seconds=0.01))
    return rows
