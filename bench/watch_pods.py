"""Measures the list-watch on a real API server: 10,000 pods of 6 KB, what following them costs, how
soon a change is heard.

Usage: .venv/bin/python -m bench.watch_pods [PODS] (needs scripts/build-kube-apiserver; a minute or
two)
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from podpath.kube import access
from podpath.kube.client import Client
from podpath_protect.cluster.objects import KubePod
from tests import apiserver
from tests import kube_objects as kube

NODE = {"fieldSelector": "spec.nodeName=crowded"}
CHANGES = 200


def make_pod(number: int, namespace: str) -> dict[str, Any]:
    """Make a pod as large as pods are: environment, volumes, labels, and what kubectl apply leaves
    behind.
    """
    labels = {
        "app": f"app-{number % 50}",
        "pod-template-hash": f"{number % 50:08x}",
        "team": "shop",
    }
    notes = {
        "kubectl.kubernetes.io/last-applied-configuration": "x" * 2500,
        "config.linkerd.io/skip-outbound-ports": "25",
    }
    made = kube.pod(
        f"pod-{number}",
        namespace=namespace,
        node="crowded",
        init=("linkerd-network-validator",),
        containers=("app", "linkerd-proxy"),
        labels=labels,
        annotations=notes,
        owners=[kube.owner(f"app-{number % 50}")],
    )
    for container in made["spec"]["containers"]:
        container["env"] = [
            {"name": f"VARIABLE_{index}", "value": f"value-{index}"} for index in range(15)
        ]
    return made


def fill(kubeconfig: Path, pods: int, namespace: str) -> None:
    """Create the pods."""
    with Client(access.find(kubeconfig)) as client, ThreadPoolExecutor(8) as pool:
        path = f"/api/v1/namespaces/{namespace}/pods"
        list(
            pool.map(
                lambda number: client.request("POST", path, body=make_pod(number, namespace)),
                range(pods),
            )
        )


def follow(kubeconfig: str, pods: int) -> None:
    """Follow the pods in this process, and print what that took; it ends when its input does."""
    import random  # noqa: PLC0415  # the measured process imports what it needs

    from podpath_protect.cluster.listwatch import ListWatch  # noqa: PLC0415  # as above

    heard: list[float] = []

    def changed(before: KubePod | None, _: KubePod | None) -> None:
        if before is not None:
            heard.append(time.time())

    base = peak()
    began = time.monotonic()
    watch = ListWatch(
        Client(access.find(Path(kubeconfig))),
        NODE,
        draw=random.random,
        clock=time.monotonic,
        changed=changed,
    )
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    while not watch.figures.watching or len(watch.pods()) < pods:
        time.sleep(0.01)
    print(f"synced {time.monotonic() - began:.3f} {base} {peak()} {rss()}", flush=True)
    sys.stdin.readline()
    print(f"heard {' '.join(map(str, heard))}", flush=True)
    print(f"after {peak()} {rss()} {time.process_time():.3f}", flush=True)
    watch.stop()
    thread.join(5)


def peak() -> int:
    """Return the most memory that this process ever held, in KB; getrusage would count its parent's
    too.
    """
    return _status("VmHWM")


def rss() -> int:
    """Return the memory that this process holds now, in KB."""
    return _status("VmRSS")


def _status(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name)))


def measure(server: apiserver.ApiServer, pods: int, namespace: str = "default") -> dict[str, float]:
    """Fill the server, follow it in a process of its own, change some pods, and give the
    figures.
    """
    kubeconfig = server.kubeconfig()
    began = time.monotonic()
    fill(kubeconfig, pods, namespace)
    figures = {"seconds to create": time.monotonic() - began}
    command = [sys.executable, "-m", "bench.watch_pods", "follow", str(kubeconfig), str(pods)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seconds, base, high, now = map(float, process.stdout.readline().split()[1:])
        figures |= {
            "seconds to sync": seconds,
            "MB before": base / 1024,
            "MB peak": high / 1024,
            "MB at rest": now / 1024,
        }
        sent = []
        with Client(access.find(kubeconfig)) as client:
            for number in range(CHANGES):
                path = f"/api/v1/namespaces/{namespace}/pods/pod-{number}"
                body = {"metadata": {"labels": {"turn": str(number)}}}
                client.request(
                    "PATCH", path, body=body, content_type="application/merge-patch+json"
                )
                sent.append(time.time())
        time.sleep(1)
        process.stdin.write("\n")
        process.stdin.flush()
        heard = [float(word) for word in process.stdout.readline().split()[1:]]
        high, now, spent = map(float, process.stdout.readline().split()[1:])
    late = sorted(there - here for here, there in zip(sent, heard, strict=True))
    figures |= {
        "ms until heard, median": 1000 * late[len(late) // 2],
        "ms until heard, worst": 1000 * late[-1],
    }
    return figures | {
        "MB peak after changes": high / 1024,
        "MB at the end": now / 1024,
        "CPU seconds in all": spent,
    }


def main() -> None:
    """Print the figures, one a line."""
    if sys.argv[1:2] == ["follow"]:
        return follow(sys.argv[2], int(sys.argv[3]))
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with apiserver.home() as home, apiserver.ApiServer(Path(home)) as server:
        for name, value in measure(server, pods).items():
            print(f"{name:<24}{value:10.2f}")
    return None


if __name__ == "__main__":
    main()
