"""Run every benchmark beside this file and print one table: `make bench`.

Each program runs by itself, one after the other, so that none measures another's leavings. The exit
code is 1 where a bound is not kept, or a program did not come to its end.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bench.measurement import Measurement, render_table  # noqa: E402  # the folder above is only now on the path

_EMITS = re.compile(r"^ +emit\(", re.MULTILINE)
"""What a benchmark of one table does; other programs here make input, run for hours or print
sentences.
"""
NEEDS_MORE = {"why_cluster.py"}
"""Benchmarks that need a cluster with agents."""


def list_programs() -> list[Path]:
    """Return the benchmarks beside this file."""
    return [
        path
        for path in sorted(HERE.glob("*.py"))
        if path.name not in NEEDS_MORE and _EMITS.search(path.read_text(encoding="utf-8"))
    ]


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
    failed: list[str] = []
    measurements = tuple(
        measurement for program in list_programs() for measurement in run(program, failed)
    )
    print(
        f"Python {platform.python_version()}, Linux {platform.release().split('-')[0]}, "
        f"{os.cpu_count()} cores\n"
    )
    print(render_table(measurements))
    return 0 if not failed and all(measurement.kept for measurement in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
