"""Measures how long `podpath why` takes on a real cluster of two nodes whose agents serve
snapshots, as it is and with many tracked connections on each node.

Usage, as root: python -m bench.why_cluster [FROM TO] [--times N] [--entries N ...] [--json]
brings up a cluster with agents, and takes it down again; with --name CLUSTER it asks one that
`scripts/cluster up` made and that has agents. What was measured is printed also where it is ended
early.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.measurement import Measurement, emit
from scripts.kubernetes import cluster
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import Plan
from tests.cluster import deployed

SPACE = "asked"
ENDS = (f"pod/{SPACE}/web-0", f"svc/{SPACE}/api:http")
SECONDS = 10.0
FILL = Path(__file__).resolve().parents[1] / "tests" / "cluster" / "full_table.py"
PYTHON = "/usr/bin/python3"


class Answer(NamedTuple):
    """What one answer took."""

    seconds: float
    own: float
    """Processor seconds of the asking process and those that it started."""


def ask(found: Cluster, ends: Sequence[str]) -> Answer:
    """Ask once, and say at once what it took: all of them take minutes."""
    command = (sys.executable, "-m", "podpath", "why", *ends)
    known = f"--kubeconfig={found.plan.kubeconfig}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run((*command, known), capture_output=True, text=True, check=False)
    passed = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"why ended with {done.returncode}: {done.stderr}{done.stdout}")
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{passed:.1f} s, of its own {own:.1f} s", file=sys.stderr, flush=True)
    return Answer(passed, own)


def run_on_nodes(found: Cluster, word: str) -> None:
    """Make entries on every node, or delete them."""
    for each in found.nodes.values():
        subprocess.run(each.enter(PYTHON, str(FILL), word), check=word != "empty")


def summarize(answers: Sequence[Answer], what: str) -> tuple[Measurement, ...]:
    """Return what answers took, the median and the worst."""
    times = [each.seconds for each in answers]
    load = os.getloadavg()[0]
    return (
        Measurement(f"{what}, median of {len(times)}", statistics.median(times), "s", SECONDS),
        Measurement("the longest of them", max(times), "s"),
        Measurement(
            "processor time of podpath why, median",
            statistics.median(each.own for each in answers),
            "s",
        ),
        Measurement("load of the machine then", load, "processes"),
    )


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """Bring a cluster of two nodes up whose agents serve snapshots, and take it down again."""
    name = f"b{os.getpid()}"
    try:
        made = cluster.up(Plan(name=name, overlay="vxlan"))
        deployed.supply(made, SPACE)
        with (
            tempfile.TemporaryDirectory() as folder,
            deployed.agents(made, Path(folder) / "deploy"),
        ):
            yield made
    finally:
        cluster.down(name)


@contextmanager
def known_cluster(name: str) -> Iterator[Cluster]:
    """Take a cluster that is there."""
    found = cluster.find(name)
    if found is None:
        raise SystemExit(f"no cluster {name}: scripts/cluster up")
    yield found


def measure(
    found: Cluster, ends: Sequence[str], times: int, entries: Sequence[int]
) -> Iterator[Measurement]:
    """Yield what answers take, as the cluster is first."""
    answers: list[Answer] = []
    try:
        answers.extend(ask(found, ends) for _ in range(times))
    finally:  # also of those before one that did not come
        if answers:
            yield from summarize(answers, "an answer")
    for count in entries:
        try:
            run_on_nodes(found, str(count))
            full = [ask(found, ends) for _ in range(3)]
        finally:
            run_on_nodes(found, "empty")
        yield from summarize(full, f"with {count} connections tracked on each node")


def main() -> None:
    """Measure, and print what was measured so far."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ends", nargs="*")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--entries", type=int, nargs="*", default=[])
    parser.add_argument("--name", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured: list[Measurement] = []
    with known_cluster(options.name) if options.name else own_cluster() as found:
        try:
            measured.extend(measure(found, options.ends or ENDS, options.times, options.entries))
        finally:
            emit(measured)


if __name__ == "__main__":
    main()
