"""Generated nodes and probes, on the model and on the kernel: the loop that says how far podpath's word can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.conversation import PAYLOAD, Act, converse, script_of
from podpath.lab import conversation
from podpath.lab.agreement import Difference, Evidence, compare
from podpath.lab.apply import apply, run
from podpath.lab.counters import RulePlace, read_counters
from podpath.lab.drops import Drop, DropTracer
from podpath.lab.frames import Tap
from podpath.lab.generate import PORTS, GeneratedCase
from podpath.lab.script import emit_removal, emit_twin
from podpath.net import protocols

IPV4 = 0x0800
_SYN, _SYN_ACK, _ACK, _DATA, _ANSWER = script_of(protocols.TCP)
KERNEL_SCRIPTS: dict[int, tuple[Act, ...]] = {
    protocols.TCP: (
        _SYN, _SYN_ACK, _ACK, _DATA, Act("data ACK", True, protocols.ACK, 1, 1 + PAYLOAD),
        _ANSWER, Act("data reply ACK", False, protocols.ACK, 1 + PAYLOAD, 1 + PAYLOAD),
    ),
}  # fmt: skip
"""What Linux sends where it differs from the model's usual exchange: a new connection is in quick-ack mode, so each side's data
is acknowledged by a packet of its own (tcp_enter_quickack_mode, net/ipv4/tcp_input.c v6.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case that was run on both."""

    case: GeneratedCase
    verdict: str
    application: str
    differences: tuple[Difference, ...]


PATIENCE = 0.2
"""Seconds of quiet to wait for when a difference is looked at a second time: on a busy machine a frame can be late."""


def run_case(case: GeneratedCase, tracer: DropTracer) -> CaseResult:
    """Hold the model's prediction of a case against what the kernel does; a difference counts when it shows twice."""
    result = _run_once(case, tracer, conversation.QUIET)
    return _run_once(case, tracer, PATIENCE) if result.differences else result


def _run_once(case: GeneratedCase, tracer: DropTracer, quiet: float) -> CaseResult:
    prediction = converse(case.node, case.probe, script=KERNEL_SCRIPTS.get(case.probe.protocol, ()))
    twin = emit_twin(case.node)
    try:
        apply(twin.commands)
        evidence = observe(case, tracer, quiet)
    finally:
        run(emit_removal(twin))
    differences = compare(prediction, evidence)
    return CaseResult(
        case=case, verdict=prediction.verdict, application=evidence.observation.application, differences=differences
    )


def observe(case: GeneratedCase, tracer: DropTracer, quiet: float) -> Evidence:
    """Send a case's probe through its twin and gather everything that can be seen of it."""
    node = case.node
    tap = Tap(tuple(node.namespaces))
    servers = conversation.open_servers(dict.fromkeys(node.namespaces, PORTS))
    try:
        tracer.read()
        counters: dict[RulePlace, int] = {}
        drops: list[Drop] = []

        def look() -> None:
            drops.extend(drop for drop in tracer.read() if drop.protocol == IPV4)
            counters.update(read_counters(node))

        seen = conversation.send_probe(case.probe, tap, servers, quiet=quiet, before_closing=look)
        return Evidence(observation=seen, counters=counters, drops=tuple(drop.reason for drop in drops))
    finally:
        tap.close()
        servers.close()
