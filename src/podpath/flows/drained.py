"""A node that is drained: its pods are evicted, and no service sends to them anymore.

Kube-proxy takes evicted pods out of every node's rules, whichever shape those have. So a flow to a
service is walked by the rules as they are, and the branches that led to an evicted pod are left
out.
Where the pods run afterward nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.checks.objects import see
from podpath.datapath.conversations.conversation import sum_up
from podpath.datapath.tracing.trace import Branch
from podpath.flows.judged import FlowState, FlowWalk, judge_walk
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import NetnsRole, Pod
from podpath.node.planned import PlannedChange

KIND = "kubectl drain"
_MIRROR = "kubernetes.io/config.mirror"
Evicted = Mapping[Address, Pod]


def plan_drain(case: Case, node: str) -> PlannedChange:
    """Return the change that draining a node is; `UsageError` where nobody knows the node."""
    known = sorted({_home(pod) for pod in case.node.pods if pod.node})
    if node not in {*known, case.node.name, *case.node.beside}:
        shown = ", ".join(known) or "no node of any pod: kubectl get pods -A -o wide"
        raise UsageError(f"expected a node with pods to drain ({shown}), saw {node!r}")
    return PlannedChange(name=f"drain:{node}", kind=KIND, drained=node)


def list_evicted(case: Case, changes: Sequence[PlannedChange]) -> Evicted:
    """Return the pods that leave, by their addresses: those of DaemonSets, static pods and pods on
    the host's network stay.
    """
    drained = {change.drained for change in changes if change.drained}
    staying = set(_list_staying(case)) if drained else set()
    hosts: set[Address] = set()
    for netns in case.node.namespaces.values():
        if netns.role == NetnsRole.HOST:
            hosts |= {item.address for item in netns.addresses.items}
    evicted: dict[Address, Pod] = {}
    for pod in case.node.pods:
        stays = (pod.namespace, pod.name) in staying or _home(pod) not in drained
        if pod.address is not None and pod.address not in hosts and not stays:
            evicted[pod.address] = pod
    return evicted


def _home(pod: Pod) -> str:
    return (pod.node or "").partition("/")[0]


def _list_staying(case: Case) -> Iterator[tuple[str, str]]:
    for seen in see(case, "Pod"):
        owners = {item.text_at("kind") for item in seen.items_at("metadata", "ownerReferences")}
        static = seen.at("metadata", "annotations", _MIRROR) is not None
        if static or owners & {"DaemonSet", "Node"}:
            yield seen.namespace, seen.name


def judge_drained(case: Case, probe: Probe, walk: FlowWalk, evicted: Evicted) -> FlowWalk:
    """Return what becomes of a flow where these pods are gone; `walk` is what it was with them."""
    if probe.src in evicted:
        pod = evicted[probe.src]
        why = f"{pod.namespace}/{pod.name} is evicted: where it runs next is not known"
        return FlowWalk(state=FlowState.UNDECIDED, spans=_spans(pod), because=why)
    if probe.dst in evicted:
        pod = evicted[probe.dst]
        why = f"{pod.namespace}/{pod.name} is evicted, and its address with it"
        return FlowWalk(state=FlowState.FAILS, spans=_spans(pod), because=why)
    conversation = walk.conversation
    if conversation is None:
        return walk
    led = [_met(branch, evicted) for branch in conversation.branches]
    lost = [pod for pod in led if pod is not None]
    if not lost:
        return walk
    pairs = zip(conversation.branches, led, strict=True)
    kept = tuple(branch for branch, pod in pairs if pod is None)
    whole = not (conversation.truncated or conversation.pruned)
    if kept:
        rest = replace(conversation, branches=kept, verdict=sum_up(kept))
        return judge_walk(case, rest, probe)
    pod = lost[0]
    if not whole:
        why = f"only ways to evicted pods were walked, {pod.namespace}/{pod.name} among them"
        return FlowWalk(state=FlowState.UNDECIDED, spans=_spans(pod), because=why)
    why = (
        f"every endpoint that it reaches is evicted ({pod.namespace}/{pod.name}): it fails until "
        "one runs elsewhere"
    )
    return FlowWalk(state=FlowState.FAILS, spans=_spans(pod), because=why)


def _met(branch: Branch, evicted: Evicted) -> Pod | None:
    """Return the evicted pod that the first packet of a branch is sent on to."""
    steps = branch.traces[0].steps if branch.traces else ()
    return next((evicted[step.after.dst] for step in steps if step.after.dst in evicted), None)


def _spans(pod: Pod) -> tuple[Span, ...]:
    return (pod.span,) if pod.span is not None else ()
