"""How many conversations a second `podpath trace --flows` answers on a warm node, as services
multiply.

    python bench/walk_flows.py [--json]

The node is that of `bench/converse.py`. A pod opens 100,000 connections to 200 of its services,
from random ports; a batch to the same services went before, so what is measured is finding each
flow's class and answer, in rows as a table gives them, without reading or writing the table.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.converse import (  # the folder above is only now on the path
    ENDPOINTS,
    POD,
    SIZES,
    build_node,
)
from bench.kube_proxy_ruleset import Service, generate_services  # as above
from bench.measurement import Measurement, emit  # as above
from podpath.library.case import Case, NodeCase
from podpath.library.memory import collecting_seldom
from podpath.node.case import Case as Facts
from podpath_fleet.flow_table import FlowRow
from podpath_fleet.walked_flows import FlowWalker

FLOWS = 100_000
TARGETS = 200
LEAST_PER_SECOND = 100_000
RUNS = 3


def draw_rows(services: list[Service], count: int, seed: int) -> list[FlowRow]:
    """Draw so many connections to the services."""
    chance = random.Random(seed)  # noqa: S311  # a benchmark's input
    rows = []
    for _ in range(count):
        one = chance.choice(services)
        port = str(chance.randrange(32768, 61000))
        rows.append(
            FlowRow(one.protocol, str(POD), port, one.address, str(one.port), " from pod", "")
        )
    return rows


def measure() -> Iterator[Measurement]:
    """Measure each size."""
    first = None
    for size in SIZES:
        warm, new = measure_size(size)
        first = first or warm.value
        yield warm._replace(against=f"{SIZES[0]} services", other=first)
        yield new


def measure_size(size: int) -> tuple[Measurement, Measurement]:
    """Measure flows of known classes, and what a new class costs."""
    live = [one for one in generate_services(size, ENDPOINTS) if one.endpoints]
    asked = random.Random(size).sample(live, min(TARGETS, len(live)))  # noqa: S311  # as above
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=build_node(size))),))
    walker = FlowWalker(case)
    with collecting_seldom():
        started = time.process_time()
        answers = {answer.verdict for answer, _ in walker.walk(draw_rows(asked, 2_000, 1))}
        cold = time.process_time() - started
        known = walker.classes.walked
        spent = [_time_batch(walker, draw_rows(asked, FLOWS, run)) for run in range(RUNS)]
    if len(answers) != 1 or known > 2 * len(asked):
        raise AssertionError(f"expected one verdict and few classes, saw {answers}, {known}")
    warm = Measurement(
        f"flows of a table, classes known, {size:,} services, one core",
        FLOWS / min(spent),
        "/s",
        LEAST_PER_SECOND,
        more_is_better=True,
    )
    return warm, Measurement(f"a flow of a new class, {size:,} services", cold / known * 1000, "ms")


def _time_batch(walker: FlowWalker, rows: list[FlowRow]) -> float:
    before = walker.classes.walked
    started = time.process_time()
    count = sum(1 for _ in walker.walk(rows))
    spent = time.process_time() - started
    if count != FLOWS or walker.classes.walked != before:
        raise AssertionError("a class was new")
    return spent


if __name__ == "__main__":
    emit(measure())
