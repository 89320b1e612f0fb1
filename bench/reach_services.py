"""What `podpath reach` costs for TCP as services multiply: for one pod, against walking one flow of
each class, and for 250 pods, against one of them.

    python bench/reach_services.py [--json]

The node is that of `bench/converse.py`.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.converse import (  # the folder above is only now on the path
    ENDPOINTS,
    POD,
    assemble_node,
    build_node,
)
from bench.kube_proxy_ruleset import generate_ruleset  # as above
from bench.measurement import Measurement, emit  # as above
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.memory import collecting_seldom
from podpath.net.addresses import Address
from podpath.node.case import Case as Facts
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.reached import ReachResult, reach

SIZES = (100, 1_000)
PROBED = 100
"""Classes of which one flow is walked, for the comparison."""
QUESTION = FlowSet((f"{POD} from pod",), (), ("tcp",))
PODS = 250
CROWDS = (1_000, 10_000)
"""Services of a node with so many pods."""
MOST_SECONDS, MOST_MEGABYTES = 60, 2048


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
    for size in CROWDS:
        yield from measure_crowd(size, PODS)


def measure_crowd(size: int, pods: int, targets: tuple[str, ...] = ()) -> Iterator[Measurement]:
    """Measure every flow of many pods, which the node treats alike."""
    own = [Address(4, (POD.value & ~0xFF) + 2 + place) for place in range(pods)]
    node = assemble_node(generate_ruleset(size, ENDPOINTS), own)
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))
    one = FlowSet((f"{own[0]} from pod",), targets, ("tcp",))
    spent = {}
    for name, question in (("one", one), ("all", one._replace(sources=()))):
        with collecting_seldom():
            started = time.process_time()
            result = reach(case, question)
            spent[name] = time.process_time() - started
        if not result.complete:
            raise AssertionError("something was not walked")
    what = f"every flow of {pods} pods, TCP, {size:,} services"
    yield Measurement(
        f"{what}, CPU",
        spent["all"],
        "s",
        MOST_SECONDS,
        against="one of these pods",
        other=spent["one"],
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Measurement(f"{what}, peak memory", peak, "MB", MOST_MEGABYTES)


if __name__ == "__main__":
    emit(measure())
