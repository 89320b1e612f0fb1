"""Measures a snapshot of a node with 250 pods: namespaces with a process, a veth to the node's
bridge, routes and a listening socket.

Usage, as root: .venv/bin/python -m bench.snapshot_pods [PODS] [--json]
It runs in namespaces of its own, which go with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.measurement import Measurement, emit  # the folder above is only now on the path

PODS = 250
SECONDS, MEGABYTES = 3.0, 100.0
INSIDE = "--inside"
_LISTEN = (
    "import socket, time; s = socket.create_server(('', 8080)); print(flush=True); time.sleep(9999)"
)


def build(pods: int) -> None:
    """Build the node in the namespaces that this process is in."""
    subprocess.run(("mount", "-t", "tmpfs", "tmpfs", "/run"), check=True)
    subprocess.run(("mount", "-t", "sysfs", "sysfs", "/sys"), check=True)
    batch(
        "link set lo up",
        "link add cni0 type bridge",
        "addr add 10.244.0.1/16 dev cni0",
        "link set cni0 up",
    )
    for number in range(pods):
        name, address = f"pod-{number}", f"10.244.{number // 250}.{number % 250 + 2}"
        subprocess.run(("ip", "netns", "add", name), check=True)
        batch(
            f"link add v{number} type veth peer eth0 netns {name}",
            f"link set v{number} master cni0 up",
        )
        batch(
            "link set lo up",
            f"addr add {address}/16 dev eth0",
            "link set eth0 up",
            "route add default via 10.244.0.1",
            netns=name,
        )
        command: tuple[str, ...] = ("sleep", "9999")
        if number % 5 == 0:
            command = (sys.executable, "-S", "-c", _LISTEN)
        entering = ("nsenter", f"--net=/run/netns/{name}", "unshare", "--uts")
        renamed = ("sh", "-c", 'hostname "$0"; exec "$@"', name)
        subprocess.Popen((*entering, *renamed, *command), stdout=subprocess.DEVNULL)
    time.sleep(2)


def batch(*lines: str, netns: str | None = None) -> None:
    """Run lines of `ip` at once."""
    entering = ("ip",) if netns is None else ("ip", "-n", netns)
    given = "".join(f"{line}\n" for line in lines)
    subprocess.run((*entering, "-batch", "-"), input=given, text=True, check=True)


def measure() -> tuple[float, float, float]:
    """Take a snapshot; its seconds, the peak of the memory of all of its processes, its size."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "node.tar.gz"
        command = (sys.executable, "-m", "podpath", "snapshot", "--no-logs", "-o", str(target))
        peak = [0.0]
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watching = threading.Thread(target=watch, args=(process, peak))
        watching.start()
        process.wait()
        seconds = time.monotonic() - began
        watching.join()
        return seconds, peak[0], target.stat().st_size / 1e6


def watch(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    """Note the most memory that a process and those it forked have together, what they share
    once.
    """
    while process.poll() is None:
        found = subprocess.run(
            ("pgrep", "-P", str(process.pid), "-f", "podpath"), capture_output=True, check=False
        )
        processes = [str(process.pid), *found.stdout.decode().split()]
        peak[0] = max(peak[0], sum(map(proportional_memory, processes)))
        time.sleep(0.02)


def proportional_memory(process: str) -> float:
    """Return a process's memory in MB, shared pages by their share."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    line = next((line for line in text.splitlines() if line.startswith("Pss:")), "Pss: 0 kB")
    return float(line.split()[1]) / 1024


def main() -> None:
    """Build the node in namespaces of its own, and measure there."""
    if INSIDE not in sys.argv:
        if os.geteuid() != 0:
            print("snapshot_pods: needs root; not measured", file=sys.stderr)
            return
        unshare = ("unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc")
        done = subprocess.run(
            (*unshare, sys.executable, __file__, INSIDE, *sys.argv[1:]), check=False
        )
        sys.exit(done.returncode)
    pods = next((int(word) for word in sys.argv[1:] if word.isdigit()), PODS)
    build(pods)
    runs = [measure() for _ in range(3)]
    seconds, memory, size = (min(values) for values in zip(*runs, strict=True))
    emit(
        (
            Measurement(f"snapshot of {pods} pods", seconds, "s", SECONDS),
            Measurement("its processes' memory together", memory, "MB", MEGABYTES),
            Measurement("the bundle, packed", size, "MB"),
        )
    )


if __name__ == "__main__":
    main()
