"""A node rebuilt on the real kernel for one test: a child process enters a private world, builds
it, sends the probe, compares.

What the child makes dies with it.
"""

from __future__ import annotations

import multiprocessing
import platform
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import NamedTuple

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.frames import is_symbolic
from podpath.datapath.tracing.trace import Conversation, Dropped, Rejected
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.links import Link
from podpath.node.node import Node
from podpath_lab.agreement import Disagreement, ObservedEvidence, compare, count_frames
from podpath_lab.apply import apply, enter_private_world, inside
from podpath_lab.cases.crafted import DEVICE, send_frame
from podpath_lab.conversation import Timeouts
from podpath_lab.drops import DropTracer
from podpath_lab.exchange import KERNEL_SCRIPTS
from podpath_lab.injection import inject
from podpath_lab.script import emit_twin
from podpath_lab.twin import observe, observe_frame, plan_twin

_FORK = multiprocessing.get_context("fork")


PORTS = (80, 8080)
QUIET = 0.08
"""Seconds without a frame that end a probe: longer than a hasty neighbour takes to give up."""


class Run(NamedTuple):
    """What the model said of a probe, and what the kernel did."""

    prediction: Conversation
    evidence: ObservedEvidence
    differences: tuple[Disagreement, ...]


class Printed(NamedTuple):
    """What a command printed."""

    text: str


class Agreed(NamedTuple):
    """What kernel and model agree on."""

    verdict: str
    kind: str
    """How the conversation fails; empty where it works."""
    reason: str
    """The drop reason or ICMP answer that ended it; empty where no stage did."""


def agree(node: Node, probe: str) -> Agreed:
    """Hold one probe on the model against the kernel, and give what both say."""
    run = run_in_child(replace(node, kernel=platform.release()), Probe.parse(probe))
    if run.differences:
        pytest.fail(
            "\n".join(
                f"{each.what}:\n{each.predicted}\nand the kernel:\n{each.observed}"
                for each in run.differences
            )
        )
    branch = run.prediction.branches[0]
    outcome = branch.last.outcome
    reason = (
        outcome.reason
        if isinstance(outcome, Dropped)
        else outcome.answer
        if isinstance(outcome, Rejected)
        else ""
    )
    return Agreed(run.prediction.verdict, branch.kind, reason)


def agree_on_frame(node: Node, netns: str, frame: Packet) -> Run:
    """Hold one frame that a namespace puts on its eth0 on the model against the kernel, and give
    both.
    """
    run = _call(_compare_frame, replace(node, kernel=platform.release()), netns, frame)
    assert isinstance(run, Run), run
    if run.differences:
        pytest.fail(
            "\n".join(
                f"{each.what}:\n{each.predicted}\nand the kernel:\n{each.observed}"
                for each in run.differences
            )
        )
    return run


def run_in_child(node: Node, probe: Probe) -> Run:
    """Build, send and compare in a process of its own."""
    answer = _call(_compare, node, probe)
    assert isinstance(answer, Run), answer
    return answer


def printed_in(node: Node, netns: str, command: str) -> str:
    """Build the node in a process of its own and give what a command in one of its namespaces
    prints, whatever its exit code.
    """
    answer = _call(_print, node, netns, command)
    assert isinstance(answer, Printed), answer
    return answer.text


def _call(work: Callable[..., object], *arguments: object) -> object:
    ours, theirs = _FORK.Pipe()
    child = _FORK.Process(target=_work, args=(theirs, work, arguments))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        child.join(60)
        ours.close()


def _work(pipe: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    try:
        enter_private_world()
        pipe.send(work(*arguments))
    except Exception as error:  # noqa: BLE001  # whatever it is, the parent reports it
        pipe.send(f"{type(error).__name__}: {error}")


def _print(node: Node, netns: str, command: str) -> Printed:
    apply(plan_twin(_bare(node), None).commands)
    with inside(netns):
        done = subprocess.run(
            command.split(), capture_output=True, text=True, check=False, timeout=30
        )
    return Printed(done.stdout)


def _bare(node: Node) -> Node:
    """Leave the MACs to the kernel that a test has only words for."""
    namespaces = {
        name: replace(
            netns, links=netns.links._replace(items=tuple(map(_without_words, netns.links.items)))
        )
        for name, netns in node.namespaces.items()
    }
    return replace(node, namespaces=namespaces)


def _without_words(link: Link) -> Link:
    return replace(link, mac=None) if link.mac is not None and is_symbolic(link.mac) else link


def _compare(node: Node, probe: Probe) -> Run:
    tracer = DropTracer()
    try:
        return _run(node, probe, tracer)
    finally:
        tracer.close()


def _patience(prediction: Conversation) -> Timeouts:
    return Timeouts(QUIET, min(map(count_frames, prediction.branches)))


def _compare_frame(node: Node, netns: str, frame: Packet) -> Run:
    prediction = inject(node, netns, DEVICE, frame)
    with closing(DropTracer()) as tracer:
        apply(emit_twin(node, counted=True).commands)
        sending = partial(send_frame, netns, frame)
        evidence = observe_frame(node, sending, tracer, _patience(prediction))
    return Run(prediction, evidence, compare(prediction, evidence))


def _run(node: Node, probe: Probe, tracer: DropTracer) -> Run:
    prediction = converse(node, probe, script=KERNEL_SCRIPTS.get(probe.protocol, ()))
    plan = plan_twin(node, probe)
    apply(plan.commands)
    sender = prediction.branches[0].traces[0].start
    evidence = observe(
        plan.wired.node, probe._replace(netns=sender), tracer, PORTS, _patience(prediction)
    )
    return Run(
        prediction, evidence, compare(prediction, evidence, ignored=frozenset(plan.wired.far_ends))
    )
