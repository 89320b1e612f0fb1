"""How long reading a large kube-proxy ruleset takes, beside `iptables-nft-restore --test` on the
same file in the same run.

    python bench/read_ruleset.py [SERVICES ENDPOINTS] [--json]

Both run as fresh processes in turn, five times; the median of their CPU time counts, start of the
interpreter included.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.kube_proxy_ruleset import generate_ruleset  # the folder above is only now on the path
from bench.measurement import Measurement, emit  # as above

SERVICES, ENDPOINTS, RUNS = 10_000, 3, 5
MOST_MEGABYTES = 400
_READ = """
import sys
from podpath.assembly.netfilter.state import assemble_netfilter
from podpath.evidence.iptables.rules import read_rules
from podpath.net.provenance import Source

with open(sys.argv[1], encoding="utf-8") as file:
    source = Source(name=sys.argv[1], lines=tuple(file.read().splitlines()), command="iptables-save")
tables = assemble_netfilter([(source, read_rules(source))]).netfilter[4].tables
assert sum(len(table.chains) for table in tables) > 0
"""  # noqa: E501


class Cost(NamedTuple):
    """What one run of a process took."""

    seconds: float
    """CPU time, user and system."""
    megabytes: float
    """Peak resident memory."""


def measure(arguments: list[str]) -> Cost:
    """Run a process to its end."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments[0]} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    """Measure and print."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdecimal()] or [SERVICES, ENDPOINTS]
    text = generate_ruleset(*sizes)
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "node.rules"
        rules.write_text(text, encoding="utf-8")
        kernel = ["unshare", "--net", "iptables-nft-restore", "--test", str(rules)]
        reader = [sys.executable, "-c", _READ, str(rules)]
        pairs = [(measure(reader), measure(kernel)) for _ in range(RUNS)]
    seconds = statistics.median(read.seconds for read, _ in pairs)
    restore = statistics.median(other.seconds for _, other in pairs)
    lines = text.count("\n")
    name = f"reading {lines:,} lines of iptables-save into the node"
    emit((
        Measurement(
            f"{name}, CPU", seconds, "s", restore, against="iptables-nft-restore --test, same file",
            other=restore,
        ),
        Measurement(
            f"{name}, peak memory", max(read.megabytes for read, _ in pairs), "MB", MOST_MEGABYTES,
        ),
    ))  # fmt: skip


if __name__ == "__main__":
    main()
