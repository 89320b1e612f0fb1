"""Generated nodes and probes, on the model and on the kernel: the loop that says how far podpath's
word can be trusted.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import StageName
from podpath.node.netfilter import Rule
from podpath.node.node import HOST
from podpath_lab import conversation
from podpath_lab.agreement import Disagreement, ObservedEvidence, compare, count_frames
from podpath_lab.apply import (
    LabError,
    apply,
    die_with_parent,
    enter_private_world,
    list_tunnels,
    run,
)
from podpath_lab.cases.crafted import DEVICE, send_frame
from podpath_lab.cases.generate import GeneratedCase, generate_case
from podpath_lab.cases.routing import PORTS
from podpath_lab.cases.tunnels import KINDS
from podpath_lab.conversation import USUAL, Timeouts
from podpath_lab.drops import DropTracer
from podpath_lab.exchange import KERNEL_SCRIPTS, SETTLED
from podpath_lab.injection import inject
from podpath_lab.script import emit_removal, emit_twin
from podpath_lab.twin import observe, observe_frame

T = TypeVar("T")

SHARING = 4
"""Workers on one processor: most of a case is waiting for grace periods and locks of the kernel."""
PATIENCE = 0.09
"""Seconds of quiet where a neighbor does not answer: the kernel gives up on it only after a
while.
"""
LOOKS = (conversation.QUIET, PATIENCE, 0.3)
"""Seconds of quiet at each look at a case: one that differs is looked at again, since on a busy
machine a frame can be late.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case that was run on both."""

    seed: int
    topology: str
    nat: bool
    fault: str
    verdict: str
    application: str
    differences: tuple[Disagreement, ...]
    stages: frozenset[str] = frozenset()
    """Stages of the datapath that the prediction went through."""
    looks: int = 1
    """How often it was looked at: again, and with more patience, as long as it differed."""
    rules: frozenset[str] = frozenset()
    """Matches and targets of the rules that matched."""
    families: frozenset[str] = frozenset()
    """What rarer things the case has."""


@dataclass(slots=True)
class Tally:
    """What a run of many cases came to."""

    cases: int = 0
    nat: int = 0
    faults: int = 0
    failing: int = 0
    again: int = 0
    """Cases that agreed only when they were looked at again."""
    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter)
    topologies: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    differing: list[CaseResult] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        """Count one case in."""
        self.cases += 1
        self.nat += result.nat
        self.faults += bool(result.fault)
        self.failing += result.verdict != "ALWAYS"
        self.again += result.looks > 1 and not result.differences
        self.verdicts[result.verdict] += 1
        self.topologies[result.topology] += 1
        self.stages.update(result.stages)
        self.rules.update(result.rules)
        self.families.update(result.families)
        if result.differences:
            self.differing.append(result)


def run_case(case: GeneratedCase, tracer: DropTracer) -> CaseResult:
    """Hold the model's prediction of a case against what the kernel does; a difference counts when
    every look shows one.
    """
    prediction = predict(case)
    evidence, looks = _look(case, prediction, tracer)
    differences = compare(prediction, evidence)
    branch = prediction.branches[0]
    return CaseResult(
        seed=case.seed,
        topology=case.topology,
        nat=case.nat,
        fault=case.fault,
        verdict=prediction.verdict,
        application=evidence.observation.application,
        differences=differences,
        looks=looks,
        stages=frozenset(step.stage for trace in branch.traces for step in trace.steps),
        rules=_extensions(prediction),
        families=case.families,
    )


def _look(
    case: GeneratedCase, prediction: Conversation, tracer: DropTracer
) -> tuple[ObservedEvidence, int]:
    """Have the kernel run a case, again where it differs; give what was seen last, and how often it
    was looked at.
    """
    looks = 0
    for quiet in LOOKS:
        looks += 1
        evidence = observe_case(case, tracer, _patience(prediction, quiet))
        if not compare(prediction, evidence):
            break
    return evidence, looks


def predict(case: GeneratedCase) -> Conversation:
    """Walk a case's probe, with the packets that Linux sends."""
    if case.frame is not None:
        return inject(case.node, case.probe.netns or HOST, DEVICE, case.frame, settled=SETTLED)
    return converse(
        case.node,
        case.probe,
        script=KERNEL_SCRIPTS.get(case.probe.protocol, ()),
        settled=SETTLED,
    )


def observe_case(
    case: GeneratedCase, tracer: DropTracer, patience: Timeouts = USUAL
) -> ObservedEvidence:
    """Build a case's node, send its probe, and take the node down again."""
    twin = emit_twin(case.node, counted=True, tunnels=True)
    try:
        apply(twin.commands)
        if case.frame is None:
            return observe(case.node, case.probe, tracer, PORTS, patience)
        frame, netns = case.frame, case.probe.netns or HOST
        return observe_frame(case.node, partial(send_frame, netns, frame), tracer, patience)
    finally:
        run(emit_removal(twin))


def _patience(prediction: Conversation, quiet: float) -> Timeouts:
    """Wait for every frame that is predicted, and where a neighbor does not answer, until the
    kernel gives up on it.
    """
    waits = any(branch.last.deciding.stage is StageName.NEIGHBOUR for branch in prediction.branches)
    return Timeouts(
        max(quiet, PATIENCE) if waits else quiet, min(map(count_frames, prediction.branches))
    )


def _extensions(prediction: Conversation) -> frozenset[str]:
    hits = [hit for trace in prediction.branches[0].traces for hit in trace.matched]
    named: set[str] = set()
    for rule in (hit.rule for hit in hits):
        if isinstance(rule, Rule):
            named |= {f"match {match.name}" for match in rule.matches}
            if rule.target and rule.target.name.isupper():
                named.add(f"target {rule.target.name}")
    return frozenset(named)


def run_cases(
    seeds: range,
    jobs: int,
    progress: Callable[[Tally], None],
    generate: Callable[[int, str], GeneratedCase] = generate_case,
) -> Tally:
    """Run many cases in worker processes, and count what they came to."""
    tally = Tally()
    start = time.monotonic()
    for result in spread(seeds, jobs, run_case, generate):
        tally.add(result)
        tally.seconds = time.monotonic() - start
        progress(tally)
    return tally


def list_kinds_here() -> frozenset[str]:
    """Return which kinds of tunnels cases can have on this kernel; asked in a process of its own,
    which makes one of each in a private world.
    """
    with multiprocessing.get_context("fork").Pool(1, enter_private_world) as pool:
        return pool.apply(list_tunnels, (KINDS,))


def spread(
    seeds: range,
    jobs: int,
    work: Callable[[GeneratedCase, DropTracer], T],
    generate: Callable[[int, str], GeneratedCase] = generate_case,
) -> Iterator[T]:
    """Do something with many cases in worker processes, each in a private world, on as many
    processors as there are jobs.

    A drop reason can be told apart only by its processor: of the workers that share one, a single
    one observes at a time, while the others build their nodes or take them down, which is mostly
    waiting.
    """
    context = multiprocessing.get_context("fork")
    processors = sorted(os.sched_getaffinity(0))[: max(1, jobs)]
    turns = {processor: context.Lock() for processor in processors}
    workers = max(1, min(len(processors) * SHARING, len(seeds)))
    queue: multiprocessing.Queue[tuple[T] | None] = context.Queue()
    processes = []
    for index in range(workers):
        processor = processors[index % len(processors)]
        share = _Share(processor, turns[processor], range(seeds.start + index, seeds.stop, workers))
        processes.append(
            context.Process(
                target=_work, args=(os.getpid(), share, work, generate, queue), daemon=True
            )
        )
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


class _Share(NamedTuple):
    """What one worker does, and where."""

    processor: int
    turn: AbstractContextManager[bool]
    seeds: range


def _work(
    parent: int,
    share: _Share,
    work: Callable[[GeneratedCase, DropTracer], T],
    generate: Callable[[int, str], GeneratedCase],
    queue: multiprocessing.Queue[tuple[T] | None],
) -> None:
    die_with_parent(parent)
    os.sched_setaffinity(0, {share.processor})
    try:
        enter_private_world()
        with closing(DropTracer(share.processor, share.turn)) as tracer:
            for seed in share.seeds:
                queue.put((work(generate(seed, os.uname().release), tracer),))
    finally:
        queue.put(None)
