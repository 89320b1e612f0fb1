"""Generated nodes and probes, on the model and on the kernel: the loop that says how far podpath's word can be trusted."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from podpath.datapath.conversation import converse
from podpath.datapath.injection import inject
from podpath.datapath.trace import Conversation
from podpath.lab import conversation
from podpath.lab.agreement import Difference, Evidence, compare
from podpath.lab.apply import LabError, apply, die_with_parent, enter_private_world, run
from podpath.lab.crafted import DEVICE, send_frame
from podpath.lab.drops import DropTracer
from podpath.lab.exchange import KERNEL_SCRIPTS, REGISTRATION
from podpath.lab.generate import GeneratedCase, generate_case
from podpath.lab.generate_routing import PORTS
from podpath.lab.script import emit_removal, emit_twin
from podpath.lab.twin import observe, observe_frame
from podpath.node.netfilter import Rule
from podpath.node.node import HOST

T = TypeVar("T")

PATIENCE = 0.05
"""Seconds of quiet to wait for when a difference is looked at a second time: on a busy machine a frame can be late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case that was run on both."""

    seed: int
    topology: str
    nat: bool
    fault: str
    verdict: str
    application: str
    differences: tuple[Difference, ...]
    stages: frozenset[str] = frozenset()
    """Stages of the datapath that the prediction went through."""
    rules: frozenset[str] = frozenset()
    """Matches and targets of the rules that matched."""


@dataclass(slots=True)
class Tally:
    """What a run of many cases came to."""

    cases: int = 0
    nat: int = 0
    faults: int = 0
    failing: int = 0
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    topologies: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    differing: list[CaseResult] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        """Count one case in."""
        self.cases += 1
        self.nat += result.nat
        self.faults += bool(result.fault)
        self.failing += result.verdict != "ALWAYS"
        self.verdicts[result.verdict] += 1
        self.topologies[result.topology] += 1
        self.stages.update(result.stages)
        self.rules.update(result.rules)
        if result.differences:
            self.differing.append(result)


def run_case(case: GeneratedCase, tracer: DropTracer) -> CaseResult:
    """Hold the model's prediction of a case against what the kernel does; a difference counts when it shows twice."""
    prediction = predict(case)
    evidence = observe_case(case, tracer, PATIENCE if _waits(prediction) else conversation.QUIET)
    differences = compare(prediction, evidence)
    if differences:
        evidence = observe_case(case, tracer, PATIENCE)
        differences = compare(prediction, evidence)
    branch = prediction.branches[0]
    return CaseResult(
        seed=case.seed, topology=case.topology, nat=case.nat, fault=case.fault, verdict=prediction.verdict,
        application=evidence.observation.application, differences=differences,
        stages=frozenset(step.stage for trace in branch.traces for step in trace.steps), rules=_extensions(prediction),
    )  # fmt: skip


def predict(case: GeneratedCase) -> Conversation:
    """Walk a case's probe, with the packets that Linux sends."""
    if case.frame is not None:
        return inject(case.node, case.probe.netns or HOST, DEVICE, case.frame, settled=REGISTRATION)
    return converse(case.node, case.probe, script=KERNEL_SCRIPTS.get(case.probe.protocol, ()), settled=REGISTRATION)


def observe_case(case: GeneratedCase, tracer: DropTracer, quiet: float = conversation.QUIET) -> Evidence:
    """Build a case's node, send its probe, and take the node down again."""
    twin = emit_twin(case.node)
    try:
        apply(twin.commands)
        if case.frame is None:
            return observe(case.node, case.probe, tracer, PORTS, quiet)
        frame, netns = case.frame, case.probe.netns or HOST
        return observe_frame(case.node, partial(send_frame, netns, frame), tracer, quiet)
    finally:
        run(emit_removal(twin))


def _waits(prediction: Conversation) -> bool:
    """Tell whether a neighbour does not answer: the kernel gives up on it only after a while."""
    return any(branch.last.deciding.stage == "neighbour" for branch in prediction.branches)


def _extensions(prediction: Conversation) -> frozenset[str]:
    rules = [hit.rule for trace in prediction.branches[0].traces for hit in trace.matched if isinstance(hit.rule, Rule)]
    matches = {f"match {match.name}" for rule in rules for match in rule.matches}
    return frozenset(matches | {f"target {rule.target.name}" for rule in rules if rule.target and rule.target.name.isupper()})


def run_cases(seeds: range, jobs: int, progress: Callable[[Tally], None]) -> Tally:
    """Run many cases in worker processes, and count what they came to."""
    tally = Tally()
    start = time.monotonic()
    for result in spread(seeds, jobs, run_case):
        tally.add(result)
        tally.seconds = time.monotonic() - start
        progress(tally)
    return tally


def observe_cases(seeds: range, jobs: int) -> Mapping[int, Evidence]:
    """Give what the kernel does in many cases, by seed, to hold several predictions against."""
    return dict(spread(seeds, jobs, _observe_numbered))


def _observe_numbered(case: GeneratedCase, tracer: DropTracer) -> tuple[int, Evidence]:
    return case.seed, observe_case(case, tracer, PATIENCE if _waits(predict(case)) else conversation.QUIET)


def spread(seeds: range, jobs: int, work: Callable[[GeneratedCase, DropTracer], T]) -> Iterator[T]:
    """Do something with many cases in worker processes, each in a private world and on a processor of its own.

    A drop reason can be told apart only by its processor, so that two workers never share one.
    """
    context = multiprocessing.get_context("fork")
    processors = sorted(os.sched_getaffinity(0))
    workers = max(1, min(jobs, len(processors), len(seeds)))
    shares = [(processors[index], range(seeds.start + index, seeds.stop, workers)) for index in range(workers)]
    queue: multiprocessing.Queue[tuple[T] | None] = context.Queue()
    processes = [context.Process(target=_work, args=(os.getpid(), *share, work, queue), daemon=True) for share in shares]
    for process in processes:
        process.start()
    running = workers
    while running:
        item = queue.get()
        if item is None:
            running -= 1
        else:
            yield item[0]
    for process in processes:
        process.join()
        if process.exitcode:
            raise LabError("a worker ended early: what it met stands above")


def _work(
    parent: int,
    processor: int,
    seeds: range,
    work: Callable[[GeneratedCase, DropTracer], T],
    queue: multiprocessing.Queue[tuple[T] | None],
) -> None:
    die_with_parent(parent)
    os.sched_setaffinity(0, {processor})
    try:
        enter_private_world()
        with closing(DropTracer(processor)) as tracer:
            for seed in seeds:
                queue.put((work(generate_case(seed, os.uname().release), tracer),))
    finally:
        queue.put(None)
