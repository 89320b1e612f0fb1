"""Reads a cluster of a thousand nodes by their agents: an API server that passes requests on to
them is played on this machine, and `podpath fleet cluster://` asks it for each node's bundle.

    python -m bench.served_agents [--nodes 1000] [--pods 20] [--jobs 2] [--folder FOLDER]

prints the rate, CPU time and memory of the run (the server's own is not counted), and which of the
planted faults its report names.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.made_fleet import check_planted, write_fleet
from tests.fleet.agents import ServedCluster


def measure(folder: Path, nodes: int, pods: int, jobs: int) -> None:
    """Make the nodes' bundles, serve them, and read them."""
    made, out = folder / "made", folder / "out"
    write_fleet(made, nodes, pods)
    suffix = ".tar.gz"
    bundles = {
        path.name.removesuffix(suffix): path.read_bytes() for path in made.glob(f"*{suffix}")
    }
    cluster = ServedCluster(bundles)
    command = [
        sys.executable, "-m", "podpath", "fleet", "cluster://", "--out", str(out),
        "--jobs", str(jobs),
    ]  # fmt: skip
    with cluster.serve() as server:
        environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig(folder))}
        started = time.monotonic()
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
        took = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    once = len(cluster.taken) == len(set(cluster.taken)) == nodes
    print(f"exit code {done.returncode}; {nodes} nodes, each asked once: {once}")
    print(
        f"{took:.0f} s, {nodes / took:.1f} nodes/s; {cpu:.0f} s of CPU time, {cpu / nodes:.3f} s "
        f"each; the largest process {used.ru_maxrss >> 10} MB"
    )
    found = check_planted(made, str(out))
    print(f"{found.planted} planted, missed: {found.missed}, wrong: {found.wrong}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--pods", type=int, default=20)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--folder", type=Path, help="where bundles and rows stay")
    given = options.parse_args()
    if given.folder is not None:
        measure(given.folder, given.nodes, given.pods, given.jobs)
    else:
        with tempfile.TemporaryDirectory() as place:
            measure(Path(place), given.nodes, given.pods, given.jobs)
