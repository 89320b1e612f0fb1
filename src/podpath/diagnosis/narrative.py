"""A failing walk told in sentences: what each packet met that mattered, up to the one that did not arrive."""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.trace import Delivered, Dropped, Rejected, Step, Trace, Transmitted
from podpath.diagnosis.causes import Cause
from podpath.net.packet import endpoint, spell_ends

QUIET = frozenset(
    (
        "receive", "transmit", "route", "forward", "local", "accept", "pass", "resolve", "deliver", "hand on", "return", "hop",
        "established", "bond", "switch", "loop", "tos", "ttl",
    )
)  # fmt: skip
"""Decisions that every packet meets: they are told only where one of them ends it."""
MOST = 3
"""Steps told of one packet."""


def narrate(cause: Cause) -> tuple[str, ...]:
    """Tell each packet up to the failing one in a sentence or two."""
    sentences: list[str] = []
    for trace in cause.branch.traces:
        sentences.append(_tell_failing(cause) if trace is cause.trace else _tell(trace))
        if trace is cause.trace:
            break
    return tuple(sentences)


def telling_steps(trace: Trace) -> tuple[Step, ...]:
    """Give the steps that changed a packet's lot, without what every packet meets."""
    return tuple(step for step in trace.steps if step.decision not in QUIET)


def _tell(trace: Trace) -> str:
    told = list(dict.fromkeys(_spell(step) for step in telling_steps(trace)))[-MOST:]
    return f"{trace.name} ({spell_ends(trace.packet)}): {'; '.join([*told, _end(trace)])}."


def _tell_failing(cause: Cause) -> str:
    trace, last = cause.trace, cause.trace.deciding
    steps = [step for step in telling_steps(trace) if step is not last]
    told = list(dict.fromkeys(_spell(step) for step in steps))[-MOST:]
    if cause.step is not last:
        told.append(f"{cause.step.why} [{cause.step.stage}, netns {cause.step.netns}]")
    arrived = isinstance(trace.outcome, (Delivered, Transmitted))
    final = cause.branch.failure if arrived else f"{last.why} [{last.stage}, netns {last.netns}]: it is {_end(trace)}"
    return f"{trace.name} ({spell_ends(trace.packet)}): {'; '.join([*told, final])}."


def _spell(step: Step) -> str:
    if step.stage.endswith("conntrack"):
        what = {"new": "conntrack sees it as NEW", "invalid": f"conntrack calls it INVALID: {step.why}"}
        return what.get(step.decision, f"conntrack: {step.decision}")
    before, after = spell_ends(step.before), spell_ends(step.after)
    return step.why if before == after or after.partition(" > ")[0] in step.why else f"{step.why}, so it is now {after}"


def _end(trace: Trace) -> str:
    match trace.outcome:
        case Delivered(netns=netns):
            return f"it arrives in netns {netns}"
        case Transmitted(link=link):
            return f"it leaves on {link}"
        case Dropped():
            return "dropped"
        case Rejected(answer=answer):
            return f"refused, and the sender gets {answer}"
        case _:
            return "not decided"


def claim_of(cause: Cause) -> str:
    """Name the cause in one sentence."""
    special = _CLAIMS.get(cause.check)
    told = "".join(special(cause)) if special is not None else ""
    if told:
        return told
    if isinstance(cause.trace.outcome, (Delivered, Transmitted)):
        return f"{_the(cause)} goes astray: {cause.branch.failure}."
    if cause.step is not cause.trace.deciding:
        return f"{_the(cause)} goes astray: {cause.step.why}, and {cause.trace.deciding.netns} there has no use for it."
    word = "rejected" if isinstance(cause.trace.outcome, Rejected) else "dropped"
    return f"{_the(cause)} is {word} at {cause.step.stage} in netns {cause.step.netns}: {cause.step.why}."


def _the(cause: Cause) -> str:
    """Name the packet: `The handshake's ACK from 10.0.0.1 to 10.0.0.2:80`."""
    packet = cause.trace.packet
    name = {"ACK": "handshake's ACK", "SYN": "first packet (SYN)", "SYN-ACK": "answer (SYN-ACK)"}.get(
        cause.trace.name, cause.trace.name
    )
    served = cause.trace.direction == "original" and packet.has_ports
    target = endpoint(packet.dst, packet.dport) if served else str(packet.dst)
    return f"The {name} from {packet.src} to {target}"


def _rule(cause: Cause) -> Iterator[str]:
    if cause.place is not None:
        rule = cause.place.rule
        word = "rejected" if isinstance(cause.trace.outcome, Rejected) else "dropped"
        yield f"{_the(cause)} is {word} by rule {rule.position} of {rule.chain} (table {rule.table})."


def _order(cause: Cause) -> Iterator[str]:
    if cause.place is not None:
        rule = cause.place.rule
        yield f"{_the(cause)} is dropped by rule {rule.position} of {rule.chain}, because conntrack calls it INVALID."


def _filter(cause: Cause) -> Iterator[str]:
    yield f"The reverse-path filter drops what {cause.step.before.src} sends: {cause.step.why}."


def _bridged(cause: Cause) -> Iterator[str]:
    first = cause.branch.traces[0].packet
    reply = cause.trace.packet
    yield (
        f"The reply of {reply.src} to {reply.dst} stays on the bridge and skips netfilter, so it is not translated back to "
        f"{endpoint(first.dst, first.dport)}."
    )


def _without_endpoints(cause: Cause) -> Iterator[str]:
    packet = cause.branch.traces[0].packet
    yield f"The service {endpoint(packet.dst, packet.dport)} has no endpoints: a rule of kube-proxy rejects what is sent to it."


def _unheard(cause: Cause) -> Iterator[str]:
    yield f"{_the(cause)} is not sent: {cause.step.why}."


def _policy(cause: Cause) -> Iterator[str]:
    hook = cause.step.stage.partition(" ")[0]
    yield f"{_the(cause)} is dropped by the policy of {hook}: no rule accepts it."


def _stale(cause: Cause) -> Iterator[str]:
    step = cause.step
    service, gone = endpoint(step.before.dst, step.before.dport), endpoint(step.after.dst, step.after.dport)
    yield f"A conntrack entry still sends what {step.before.src} sends to {service} to {gone}, which is no endpoint any more."


def _untranslated(cause: Cause) -> Iterator[str]:
    first = cause.branch.traces[0].packet
    yield f"What {first.src} sends to {first.dst} leaves the node with the pod's own address, which nobody there can answer."


_CLAIMS = {
    "stale-conntrack": _stale,
    "missing-masquerade": _untranslated,
    "no-endpoints": _without_endpoints,
    "arp-ignore": _unheard,
    "neighbour-failed": _unheard,
    "dropped-by-rule": _rule,
    "untracked": _rule,
    "chain-order": _order,
    "rp-filter": _filter,
    "br-netfilter": _bridged,
    "forward-policy": _policy,
}
