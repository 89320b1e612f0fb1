"""Soaks `podpath protect repair`: pods come, break, are evicted and go, the API server is killed
now and then.

It prints each minute what the controller holds: memory and open files must not grow.

Usage: .venv/bin/python -m bench.soak_repair [MINUTES]     (60 unless named; needs
scripts/build-kube-apiserver)
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from podpath.kube import access
from podpath.kube.client import Client, KubeError
from tests import apiserver
from tests import kube_objects as kube

PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
POLICY = """
actions = ["label", "evict"]
node_burst = 100
node_per_hour = 100000
owner_burst = 100
owner_per_hour = 100000
owner_pause = "0s"
scan = "5s"
young = "0s"
"""
KILL_EVERY = 120.0


def churn(client: Client, number: int) -> None:
    """Bring a pod that breaks, one that is well, and take an old one away."""
    for name, state in ((f"broken-{number}", kube.CRASH_LOOP), (f"well-{number}", kube.ended(0))):
        made = kube.pod(
            name, node="soak", init=("istio-validation",), owners=[kube.owner(f"app-{number % 20}")]
        )
        client.request("POST", PODS, body=made)
        written: dict[str, Any] = {
            "status": kube.status("istio-validation", state, kube.ended(126))
        }
        client.request("PATCH", f"{PODS}/{name}/status", body=written, content_type=MERGE)
    if number >= 50:
        options = {"gracePeriodSeconds": 0}
        client.request("DELETE", f"{PODS}/well-{number - 50}", body=options)


def rss(process: int) -> float:
    """Return a process's memory in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return (
        int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        / 1024
    )


def descriptors(process: int) -> int:
    """Return how many files a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def soak(server: apiserver.ApiServer, minutes: float) -> None:
    """Churn until the time is over, and print memory and descriptors each minute."""
    policy = server.home / "repair.toml"
    policy.write_text(POLICY, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "repair",
        "--node",
        "soak",
        "--policy",
        str(policy),
    ]
    command += ["--kubeconfig", str(server.kubeconfig())]
    with (
        Client(access.find(server.kubeconfig())) as client,
        (server.home / "repair.log").open("w") as log,
        subprocess.Popen(command, stderr=log) as repair,
    ):
        began = killed = told = time.monotonic()
        lost = 0
        for number in itertools.count():
            now = time.monotonic()
            if now - began > minutes * 60:
                break
            try:
                churn(client, number)
            except KubeError:
                lost += 1
            if now - killed > KILL_EVERY:
                server.kill()
                server.start()
                killed = time.monotonic()
            if now - told > 60 or not number:
                left = len(server.read("pods")["items"])
                figures = (
                    f"{rss(repair.pid):8.1f} MB {descriptors(repair.pid):4d} files {number:7d} "
                    f"rounds {left:5d} pods"
                )
                print(f"{(now - began) / 60:6.1f} min {figures} {lost} lost", flush=True)
                told = now
            time.sleep(0.05)
        repair.terminate()
    deeds = (server.home / "repair.log").read_text(encoding="utf-8").count("evict: success")
    print(f"{deeds} evictions")


def main() -> None:
    """Soak on a server of its own."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with apiserver.home() as home, apiserver.ApiServer(Path(home)) as server:
        soak(server, minutes)


if __name__ == "__main__":
    main()
