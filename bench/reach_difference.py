"""What `podpath reach --diff` costs: TCP of 250 pods on two nodes whose rules differ in 50 places.

    python bench/reach_difference.py [--json]

The nodes are those of `bench/converse.py`; each changed service has one endpoint replaced by
another one (25 of them: the rule with its address in it, and the one that translates to it).
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.converse import (  # the folder above is only now on the path
    ENDPOINTS,
    POD,
    assemble_node,
)
from bench.kube_proxy_ruleset import generate_ruleset  # as above
from bench.measurement import Measurement, emit  # as above
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.memory import collecting_seldom
from podpath.net.addresses import Address
from podpath.node.case import Case as Facts
from podpath_fleet.reached import compare_reach

SIZES = (1_000, 10_000)
PODS = 250
CHANGED = 50
MOST_SECONDS = 5
QUESTION = FlowSet((), (), ("tcp",))


def change_rules(lines: Sequence[str], count: int, seed: int = 1) -> list[str]:
    """Return the ruleset with so many rules of endpoints changed: an endpoint of some services is
    another pod of the same node, in both rules that name it.
    """
    chance = random.Random(seed)  # noqa: S311  # a benchmark's input
    changed = list(lines)
    places = [place for place, line in enumerate(lines) if "-j DNAT" in line]
    for place in chance.sample(places, count // 2):
        old = lines[place].rpartition(" ")[2].partition(":")[0]
        new = f"{old.rpartition('.')[0]}.{255 - int(old.rpartition('.')[2])}"
        for other in (place - 1, place):  # the rule before it masquerades for the same endpoint
            changed[other] = lines[other].replace(old, new)
    return changed


def build_case(lines: Sequence[str], pods: int) -> Case:
    """Return the node of a ruleset, with many pods."""
    own = [Address(4, (POD.value & ~0xFF) + 2 + place) for place in range(pods)]
    node = assemble_node("\n".join(lines), own)
    return Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))


def measure() -> Iterator[Measurement]:
    """Measure each size."""
    return map(measure_size, SIZES)


def measure_size(size: int, pods: int = PODS) -> Measurement:
    """Measure two nodes whose text is read, to the whole difference."""
    lines = generate_ruleset(size, ENDPOINTS).splitlines()
    before, after = (build_case(each, pods) for each in (lines, change_rules(lines, CHANGED)))
    with collecting_seldom():
        started = time.process_time()
        found = compare_reach(before, after, QUESTION)
        spent = time.process_time() - started
    if not found.complete:
        raise AssertionError("something was not walked")
    name = f"difference of two nodes, {pods} pods, {size:,} services, {CHANGED} rules, CPU"
    return Measurement(name, spent, "s", MOST_SECONDS)


if __name__ == "__main__":
    emit(measure())
