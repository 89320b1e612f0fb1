"""Run every benchmark beside this file and print one table: `make bench`.

Each program runs by itself, one after the other, so that none measures another's leavings. The exit
code is 1 where a bound is not kept, or a program did not come to its end.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench.measurement import Measurement, render_table  # noqa: E402  # the folder above is only now on the path

NO_BENCHMARKS = {
    "__init__.py",
    "chain_keeper.py",
    "kube_proxy_ruleset.py",
    "made_capture.py",
    "made_evidence.py",
    "made_long_capture.py",
    "measurement.py",
    "run.py",
    "why_cluster.py",  # needs a cluster with agents
}


def run(program: Path, failed: list[str]) -> Iterator[Measurement]:
    """Run one program and give what it measured; name it in `failed` if it did not come to its
    end.
    """
    environment = os.environ | {"PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        [sys.executable, str(program), "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env=environment,
    )
    for line in done.stdout.splitlines():
        yield Measurement(**json.loads(line))
    if done.returncode:
        failed.append(program.name)
        print(f"{program.name}: ended with {done.returncode}", file=sys.stderr)


def main() -> int:
    """Run them all."""
    programs = sorted(path for path in HERE.glob("*.py") if path.name not in NO_BENCHMARKS)
    failed: list[str] = []
    measurements = tuple(
        measurement for program in programs for measurement in run(program, failed)
    )
    print(
        f"Python {platform.python_version()}, Linux {platform.release().split('-')[0]}, "
        f"{os.cpu_count()} cores\n"
    )
    print(render_table(measurements))
    return 0 if not failed and all(measurement.kept for measurement in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
