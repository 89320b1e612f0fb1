"""Measure the chain keeper: how fast it answers, what it costs at rest and in a fight.

By itself, since it takes minutes: `python bench/chain_keeper.py [SECONDS]`.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIST = {"cniVersion": "1.0.0", "name": "k8s", "plugins": [{"type": "bridge"}]}
RIVAL = """
import sys, time
from pathlib import Path
path, text = Path(sys.argv[1]), sys.argv[2]
over = time.monotonic() + float(sys.argv[3])
writes = 0
while time.monotonic() < over:
    path.write_text(text)
    writes += 1
    time.sleep(0.05)
print(writes)
"""


def cost(process: int) -> tuple[float, float]:
    """Return a process's seconds of CPU and its memory in MB."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return (int(fields[11]) + int(fields[12])) / os.sysconf(
        "SC_CLK_TCK"
    ), pages * resource.getpagesize() / 1e6


def answer(conf: Path, number: int) -> float:
    """Write the vendor's file anew and give the milliseconds until the plugin is in it."""
    path = conf / "10-net.conflist"
    temporary = conf / ".new"
    temporary.write_text(json.dumps({**LIST, "number": number}))
    began = time.monotonic()
    temporary.rename(path)
    while "mesh-cni" not in path.read_text():
        time.sleep(0.0005)
    return (time.monotonic() - began) * 1000


def measure(seconds: float) -> None:
    """Measure, and print one line for each figure."""
    with tempfile.TemporaryDirectory() as folder:
        conf, programs = Path(folder) / "net.d", Path(folder) / "bin"
        for directory in (conf, programs):
            directory.mkdir()
        for name in ("bridge", "mesh-cni"):
            (programs / name).write_text("#!/bin/sh\n")
            (programs / name).chmod(0o755)
        words = [
            sys.executable,
            "-m",
            "podpath",
            "protect",
            "chain",
            "keep",
            "--entry",
            '{"type": "mesh-cni"}',
        ]
        options = ["--conf-dir", str(conf), "--bin-dir", str(programs)]
        with subprocess.Popen([*words, *options], stderr=subprocess.DEVNULL) as keeper:
            time.sleep(2)
            print(f"first answer  {answer(conf, 0):.0f} ms")
            before, _ = cost(keeper.pid)
            time.sleep(seconds)
            after, memory = cost(keeper.pid)
            print(
                f"at rest       {100 * (after - before) / seconds:.2f} % of a core, {memory:.0f} MB"
            )
            taken = []
            for number in range(1, 6):
                time.sleep(16)  # fewer than a fight takes for one
                taken.append(answer(conf, number))
            print(
                f"answers       median {statistics.median(taken):.0f} ms, longest {max(taken):.0f} "
                "ms"
            )
            before, _ = cost(keeper.pid)
            rival = [
                sys.executable,
                "-c",
                RIVAL,
                str(conf / "10-net.conflist"),
                json.dumps(LIST),
                str(seconds),
            ]
            writes = int(subprocess.run(rival, capture_output=True, check=True).stdout)
            after, memory = cost(keeper.pid)
            shown = f"{100 * (after - before) / seconds:.2f} % of a core, {memory:.0f} MB"
            print(f"in a fight    {shown} at {writes / seconds * 60:.0f} rewrites a minute")
            keeper.terminate()


if __name__ == "__main__":
    measure(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
