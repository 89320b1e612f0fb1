"""What `podpath reach` costs for one pod and TCP as services multiply, against walking one flow of
each class.

    python bench/reach_services.py [--json]

The node is that of `bench/converse.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.converse import POD, build_node  # the folder above is only now on the path
from bench.measurement import Measurement, emit  # as above
from podpath.library.case import Case, NodeCase
from podpath.library.memory import collecting_seldom
from podpath.node.case import Case as Facts
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.reach_space import ReachQuestion
from podpath_fleet.reached import ReachResult, reach

SIZES = (100, 1_000)
PROBED = 100
"""Classes of which one flow is walked, for the comparison."""
QUESTION = ReachQuestion((f"{POD} from pod",), (), ("tcp",))


def walk_singly(case: Case, result: ReachResult) -> float:
    """Return the CPU time of one walk for each class, from that of some of them."""
    ((_, found),) = result.enumerations
    step = max(1, len(found.classes) // PROBED)
    probes = [one.witness for one in found.classes[::step]]
    walker = ReachWalker(case, watched=False)
    started = time.process_time()
    for probe in probes:
        walker.walk_alone(probe)
    return (time.process_time() - started) / len(probes) * len(found.classes)


def measure() -> Iterator[Measurement]:
    """Measure each size."""
    for size in SIZES:
        case = Case(nodes=(NodeCase(name="", facts=Facts(node=build_node(size))),))
        with collecting_seldom():
            started = time.process_time()
            result = reach(case, QUESTION)
            spent = time.process_time() - started
            alone = walk_singly(case, result)
        ((_, found),) = result.enumerations
        if not result.complete:
            raise AssertionError("something was not walked")
        yield Measurement(
            f"every flow of a pod, TCP, {size:,} services: {len(found.classes):,} classes, CPU",
            spent,
            "s",
            against="one flow of each class, walked singly",
            other=alone,
        )


if __name__ == "__main__":
    emit(measure())
