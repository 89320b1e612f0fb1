"""Generated nodes and probes, on the model and on the kernel: the loop that says how far podpath's word can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.conversation import converse
from podpath.lab import conversation
from podpath.lab.agreement import Difference, compare
from podpath.lab.apply import apply, run
from podpath.lab.drops import DropTracer
from podpath.lab.exchange import KERNEL_SCRIPTS, REGISTRATION
from podpath.lab.generate import PORTS, GeneratedCase
from podpath.lab.script import emit_removal, emit_twin
from podpath.lab.twin import observe

PATIENCE = 0.03
"""Seconds of quiet to wait for when a difference is looked at a second time: on a busy machine a frame can be late.
Still below TCP's least retransmission timeout (0.2 s)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case that was run on both."""

    case: GeneratedCase
    verdict: str
    application: str
    differences: tuple[Difference, ...]


def run_case(case: GeneratedCase, tracer: DropTracer) -> CaseResult:
    """Hold the model's prediction of a case against what the kernel does; a difference counts when it shows twice."""
    result = _run_once(case, tracer, conversation.QUIET)
    return _run_once(case, tracer, PATIENCE) if result.differences else result


def _run_once(case: GeneratedCase, tracer: DropTracer, quiet: float) -> CaseResult:
    prediction = converse(case.node, case.probe, script=KERNEL_SCRIPTS.get(case.probe.protocol, ()), settled=REGISTRATION)
    twin = emit_twin(case.node)
    try:
        apply(twin.commands)
        evidence = observe(case.node, case.probe, tracer, PORTS, quiet)
    finally:
        run(emit_removal(twin))
    differences = compare(prediction, evidence)
    return CaseResult(
        case=case, verdict=prediction.verdict, application=evidence.observation.application, differences=differences
    )
