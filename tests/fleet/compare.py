"""Flows, each by its class and by a walk of its own: `scripts/compare-flow-classes`."""

from __future__ import annotations

import sys
import time

from tests.fleet.pairs import compare_nodes


def main(count: str, first: str = "0") -> int:
    """Compare on so many nodes, every other one of both families; 1 where any answer differs."""
    started = time.process_time()
    seeds = range(int(first), int(first) + int(count))
    for both in (False, True):
        tally = compare_nodes(seeds[both::2], both_families=both)
        print(f"{'IPv4 and IPv6' if both else 'IPv4'}: {tally}", flush=True)  # noqa: T201 - a command
        for line in tally.wrong:
            print(line)  # noqa: T201 - as above
        if tally.wrong:
            return 1
    print(f"{time.process_time() - started:.0f} s of CPU time")  # noqa: T201 - as above
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
