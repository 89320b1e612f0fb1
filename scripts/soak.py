"""Run the agent for a while in a network namespace of its own, idle and under churn, and say what
it costs and whether it grows.

    sudo python scripts/soak.py                  # a minute idle, an hour of churn
    sudo python scripts/soak.py --idle 20 --churn 60

Churn is what a busy node does: pods' devices come with a wrong rp_filter and go, a CNI
configuration is rewritten by its owner, kube-proxy puts its jump at the top, metrics are scraped.
It ends with 1 where a bound is broken: 60 MB, 1 % of a core when idle, and no growth between the
second quarter and the last.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from podpath.collect.netns import inside

NAME = "podpath-soak"
HANDLE = f"/run/netns/{NAME}"
PORT = 9809
MEGABYTE = 1 << 20
OPEN_REQUESTS = 2
"""Connections that a scrape may just have open."""
MOST_MEMORY, MOST_IDLE_PERCENT, MOST_GROWTH = 60.0, 1.0, 2.0
CONFIG = """
[health]
listen = "127.0.0.1:{port}"
[sysctl]
profiles = []
root = "{root}"
[[sysctl.key]]
key = "net.ipv4.conf.lxc*.rp_filter"
value = 0
[[sysctl.key]]
key = "net.ipv4.conf.all.rp_filter"
value = 0
[[sysctl.key]]
key = "net.ipv4.ip_forward"
value = 1
[order]
mode = "fix"
[chain]
entry = '{{"type": "soak"}}'
conf_dir = "{root}/net.d"
bin_dirs = ["{root}/bin"]
"""
NETWORK = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0"}]}


class Cost(NamedTuple):
    """What the agent has used so far, its programs included."""

    at: float
    seconds: float
    megabytes: float
    descriptors: int
    threads: int


def read_cost(process: int) -> Cost:
    """Read it from /proc."""
    proc = Path("/proc") / str(process)
    fields = (proc / "stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    ticks = sum(int(fields[place]) for place in (11, 12, 13, 14))
    pages = int((proc / "statm").read_text(encoding="ascii").split()[1])
    return Cost(
        time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"),
        pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE, len(list((proc / "fd").iterdir())),
        int(fields[17]),
    )  # fmt: skip


def run(*arguments: str) -> None:
    """Run a command in the namespace."""
    subprocess.run(["ip", "netns", "exec", NAME, *arguments], check=True, capture_output=True)


def write_network(root: Path) -> None:
    """Write the CNI configuration anew, as its owner does."""
    temporary = root / "net.d/.new"
    temporary.write_text(json.dumps(NETWORK), encoding="utf-8")
    temporary.rename(root / "net.d/10-pods.conflist")


@contextmanager
def stage(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Build the namespace and start the agent; end both."""
    for directory in ("etc", "net.d", "bin"):
        (root / directory).mkdir()
    for program in ("bridge", "soak"):
        (root / "bin" / program).write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        (root / "bin" / program).chmod(0o755)
    write_network(root)
    (root / "agent.toml").write_text(CONFIG.format(root=root, port=PORT), encoding="utf-8")
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    try:
        run("ip", "link", "set", "lo", "up")
        for chain in ("CILIUM_FORWARD", "KUBE-FORWARD"):
            run("iptables-nft", "-N", chain)
            run("iptables-nft", "-A", "FORWARD", "-j", chain)
        for number in range(30):
            run(
                "ip", "link", "add", f"lxc{number}", "type", "veth", "peer", "name", f"peer{number}"
            )
        with inside(HANDLE):
            Path("/proc/sys/net/ipv4/conf/default/rp_filter").write_text("2", encoding="utf-8")
        command = [
            "ip",
            "netns",
            "exec",
            NAME,
            sys.executable,
            "-m",
            "podpath",
            "protect",
            "agent",
            "--config",
            f"{root}/agent.toml",
        ]
        with (root / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=True)


def measure_idle(process: int, seconds: float) -> tuple[Cost, float]:
    """Leave the agent alone, and give its cost and the share of a core that it took."""
    time.sleep(5)
    before = read_cost(process)
    time.sleep(seconds)
    after = read_cost(process)
    return after, 100 * (after.seconds - before.seconds) / (after.at - before.at)


def churn(process: int, root: Path, seconds: float) -> tuple[list[Cost], list[float]]:
    """Do what a busy node does, and give the costs over time and how long each new device was
    wrong.
    """
    costs: list[Cost] = []
    late: list[float] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        late.append(add_device(f"lxcn{number % 1000}"))
        run("ip", "link", "delete", f"lxcn{number % 1000}")
        if number % 10 == 0:
            write_network(root)
        if number % 50 == 0:
            run("iptables-nft", "-D", "FORWARD", "-j", "KUBE-FORWARD")
            run("iptables-nft", "-I", "FORWARD", "-j", "KUBE-FORWARD")
        if number % 5 == 0:
            run(
                sys.executable,
                "-c",
                f"import urllib.request as u; u.urlopen('http://127.0.0.1:{PORT}/metrics').read()",
            )
            costs.append(read_cost(process))
        time.sleep(0.1)
    return costs, late


def add_device(name: str) -> float:
    """Add a pod's device, and give the milliseconds until its rp_filter is as declared."""
    run("ip", "link", "add", name, "type", "veth", "peer", "name", f"p{name}")
    began = time.monotonic()
    with inside(HANDLE):
        path = Path(f"/proc/sys/net/ipv4/conf/{name}/rp_filter")
        while path.read_text(encoding="utf-8").strip() != "0":
            if time.monotonic() - began > 60:
                raise SystemExit(f"{name} was not put right within a minute")
            time.sleep(0.0005)
    return (time.monotonic() - began) * 1000


def judge(idle: Cost, percent: float, costs: list[Cost]) -> list[str]:
    """Say which bounds are broken."""
    quarter = max(1, len(costs) // 4)
    early = statistics.median(cost.megabytes for cost in costs[quarter : 2 * quarter] or costs)
    last = statistics.median(cost.megabytes for cost in costs[-quarter:])
    broken = []
    if max(idle.megabytes, *(cost.megabytes for cost in costs)) > MOST_MEMORY:
        broken.append(f"more than {MOST_MEMORY:g} MB")
    if percent > MOST_IDLE_PERCENT:
        broken.append(f"more than {MOST_IDLE_PERCENT:g} % of a core when idle")
    if last - early > MOST_GROWTH:
        broken.append(f"grew by {last - early:.1f} MB from the second quarter to the last")
    for name in ("descriptors", "threads"):
        counts = [getattr(cost, name) for cost in costs]
        if (
            statistics.median(counts[-quarter:])
            > statistics.median(counts[:quarter]) + OPEN_REQUESTS
        ):
            broken.append(f"more {name} at the end")
    return broken


def main() -> int:
    """Run the soak and print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--idle", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--churn", type=float, default=3600.0, metavar="SECONDS")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder)) as process:
        idle, percent = measure_idle(process.pid, chosen.idle)
        costs, late = churn(process.pid, Path(folder), chosen.churn)
    quarter, first, last = max(1, len(costs) // 4), costs[0], costs[-1]
    busy = 100 * (last.seconds - first.seconds) / (last.at - first.at)
    memory = [
        statistics.median(cost.megabytes for cost in costs[part * quarter :][:quarter])
        for part in range(4)
    ]
    shown = {
        "idle memory": f"{idle.megabytes:.1f} MB",
        "idle processor": f"{percent:.2f} % of a core over {chosen.idle:g} s",
        "churn": (
            f"{len(late)} devices in {chosen.churn:g} s, {busy:.1f} % of a core with the programs "
            "it runs"
        ),
        "new device wrong for": f"median {statistics.median(late):.0f} ms, 99 % "
        f"{sorted(late)[int(len(late) * 0.99)]:.0f} ms, "
        f"longest {max(late):.0f} ms",
        "memory by quarters": ", ".join(f"{each:.1f}" for each in memory),
        "descriptors, threads": (
            f"{first.descriptors}, {first.threads} first; {last.descriptors}, {last.threads} last"
        ),
    }
    for name, value in shown.items():
        print(f"{name:<22}{value}")
    broken = judge(idle, percent, costs)
    print("bounds                " + ("; ".join(broken) or "held"))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
