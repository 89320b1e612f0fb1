"""CPU time of `podpath fleet` by one process, two, and four workers of Dask: of two sizes of a
fleet, and so what a bundle more costs.

    python -m bench.fleet_efficiency [--few 100] [--many 2000] [--pods 100]

Efficiency is the CPU time of one process by that of another way to the same rows. CPU time and not
wall time, since other programs may have the cores; what is counted is all of it: starting, the
command, scheduler and workers.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from bench.made_fleet import write_fleet
from podpath_fleet.dask_engine import SCHEME, load_distributed

Run = Callable[[Path, Path], None]
"""Reads the bundles of a folder into another."""
WORKERS = 4


def run_with(*options: str) -> Run:
    """Make a run of the command."""

    def run(bundles: Path, out: Path) -> None:
        command = [sys.executable, "-m", "podpath", "fleet", str(bundles), "--out", str(out)]
        told = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        if told.returncode:
            sys.exit(told.stderr)

    return run


QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of Dask with which its processes look seldom at themselves: a hundred times a second at
their stacks, fifty times at the clock and ten times at their memory is usual, busy or not.
"""


def run_by_dask(settings: Mapping[str, object]) -> Run:
    """Make a run on a cluster of workers that is started for it, and ended."""

    def run(bundles: Path, out: Path) -> None:
        distributed = load_distributed()
        with (
            import_module("dask").config.set(settings),
            distributed.LocalCluster(
                n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
            ) as cluster,
        ):
            engine = cluster.scheduler_address.replace("tcp://", SCHEME)
            run_with("--engine", engine)(bundles, out)

    return run


WAYS: Mapping[str, Run] = {
    "one process": run_with("--jobs", "1"),
    "two processes": run_with("--jobs", "2"),
    f"{WORKERS} workers of Dask": run_by_dask({}),
    f"{WORKERS} workers of Dask that look seldom at themselves": run_by_dask(QUIET),
}


def main() -> None:
    """Measure each way with both sizes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--few", type=int, default=100)
    options.add_argument("--many", type=int, default=2000)
    options.add_argument("--pods", type=int, default=100)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        sizes = {count: Path(place) / str(count) for count in (given.few, given.many)}
        for count, folder in sizes.items():
            write_fleet(folder, count, given.pods)
        first: dict[int, float] = {}
        for way, run in WAYS.items():
            used: dict[int, float] = {}
            for count, folder in sizes.items():
                before = _cpu_time()
                run(folder, Path(place) / f"{way} {count}")
                used[count] = _cpu_time() - before
                first.setdefault(count, used[count])
                share = first[count] / used[count]
                print(f"{way}: {count} bundles in {used[count]:.1f} s, efficiency {share:.2f}")
            _tell_more(way, used, first)


def _tell_more(way: str, used: Mapping[int, float], first: Mapping[int, float]) -> None:
    """Say what a bundle more costs, which leaves out what a run costs by itself."""
    few, many = sorted(used)
    each, usual = ((spent[many] - spent[few]) / (many - few) for spent in (used, first))
    print(f"{way}: one bundle more {each:.4f} s, efficiency {usual / each:.2f}", flush=True)


def _cpu_time() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


if __name__ == "__main__":
    main()
