"""A fleet on workers of Dask, which die, hang and are killed on the way."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from pathlib import Path

import pytest

from bench.made_fleet import draw_node, pack
from podpath.net.errors import MissingExtra
from podpath_fleet import dask_engine
from podpath_fleet.bundle_row import CRASHED, DONE, HUNG, REFUSED
from podpath_fleet.dask_engine import SCHEME, load_distributed, read_all_by_dask
from podpath_fleet.paths import BundlePath
from podpath_fleet.process_pool import PoolSettings
from tests.fleet.faulty_reader import read_faulty

NODES = 6


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_costs_no_bundle(tmp_path: Path) -> None:
    """Of two workers one is killed after the first row: every bundle has one row all the same."""
    paths = []
    for number in range(NODES):
        path = tmp_path / f"{number}.tar.gz"
        path.write_bytes(pack(draw_node(number, 2)))
        paths.append(BundlePath(str(path), str(number)))
    paths.append(BundlePath(str(tmp_path / "none.tar.gz"), "none"))
    distributed = load_distributed()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        engine = cluster.scheduler_address.replace("tcp://", SCHEME)
        rows = read_all_by_dask(engine, iter(paths), PoolSettings(timeout=300))
        first = next(rows)
        victim = next(iter(cluster.workers.values()))
        os.kill(victim.pid, signal.SIGKILL)
        done = [first, *rows]

    assert sorted(row.identity for row in done) == sorted([*map(str, range(NODES)), "none"])
    assert {row.state for row in done if row.identity != "none"} == {DONE}
    assert [row.state for row in done if row.identity == "none"] == [REFUSED]


@pytest.mark.filterwarnings("ignore")
def test_only_who_is_to_blame_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle that kills every worker, one that fails and one that hangs are in tasks with others:
    those others are read, and each of the three has its reason.
    """
    monkeypatch.setattr(dask_engine, "READ", read_faulty)
    monkeypatch.setattr(dask_engine, "_START", 10.0)
    names = ["dies", "hangs", "fails", *map(str, range(40))]
    bundles = [BundlePath(name, name) for name in sorted(names, key=lambda name: (len(name), name))]
    distributed = load_distributed()
    with (
        import_module("dask").config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
    ):
        engine = cluster.scheduler_address.replace("tcp://", SCHEME)
        rows = list(read_all_by_dask(engine, bundles, PoolSettings(timeout=1)))

    assert sorted(row.identity for row in rows) == sorted(names)
    assert {row.identity: row.state for row in rows if row.state != DONE} == {
        "dies": CRASHED,
        "fails": CRASHED,
        "hangs": HUNG,
    }
    assert [row.why for row in rows if row.identity == "hangs"] == ["it was not finished after 1 s"]


def test_without_dask_an_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Dask is told what to install."""

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(dask_engine, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"podpath-fleet\[dask\]"):
        load_distributed()
