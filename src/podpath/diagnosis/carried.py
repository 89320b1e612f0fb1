"""What any node should carry and this one does not: which of its failures is a fault, which may be
meant, and which says nothing.

Nobody named these connections. Both ends are in the evidence, so a route or a neighbor that is
missing between them is a fault. A rule that drops is one where Kubernetes needs the connection
whatever the policies say (the kubelet's probes, DNS, the API) or promises it (pods reach pods),
unless the rule is a policy engine's own. What a firewall may keep out on purpose is only suspected,
and named so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.checks.cause import Cause
from podpath.checks.conntrack import untracked
from podpath.checks.links import neighbour_failed
from podpath.checks.netfilter import dropped_by_rule, hairpin
from podpath.checks.routing import no_route
from podpath.checks.services import no_endpoints, no_listener, no_local_endpoints
from podpath.diagnosis.complained import Complained
from podpath.diagnosis.conclusion import Conclusion
from podpath.diagnosis.explanations import assess
from podpath.diagnosis.flows import BaselineFlow, BaselineKind, uplinks
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import World
from podpath.node.node import HOST, Node

SUSPECTED = 0.5
"""The certainty of what may be meant so."""
SILENT = frozenset({no_listener.NAME, hairpin.NAME, untracked.NAME})
"""Failures that say nothing of a node: the port was a guess, or a pod reaches itself through its
own service.
"""
LOST = frozenset({no_route.NAME, neighbour_failed.NAME})
"""Failures that are faults where both ends are on the node, or the range of the other end is
routed.
"""
ABSENT = frozenset({no_endpoints.NAME, no_local_endpoints.NAME})
"""Failures of services without pods, here or at all: many a cluster has one, and nobody asks it."""
POLICED = re.compile(
    r"KUBE-(?:POD-FW|NWPLCY|ROUTER|NETWORK-POLIC|PROXY-FIREWALL|FIREWALL|FW|XLB|SVL|EXT)\S*"
    r"|(?:cali|felix|CILIUM|WEAVE-NPC|DOCKER|ANTREA|OVN|NETAVARK|CNI-(?:ADMIN|ISOLATION)|ISTIO|"
    r"AWS-CONNMARK)\S*"
)
"""Chains that a policy engine, a runtime's isolation or a service's own source ranges fill: what
they drop is meant.
"""


class BrokenFlows(NamedTuple):
    """Connections that a node does not carry by stated facts."""

    faults: tuple[Symptom, ...]
    suspected: tuple[Symptom, ...]
    """Those that may be kept out on purpose."""


def find_broken(base: World, flows: Iterable[BaselineFlow]) -> BrokenFlows:
    """Return those connections that fail on stated facts, parted by whether the failure can be
    meant.
    """
    found: dict[bool, list[Symptom]] = {True: [], False: []}
    for flow in flows:
        symptom = Symptom(probe=flow.probe, fails=True, result="fails in simulation")
        explanation = assess(base, (symptom,))
        causes = [blame.cause for blame in explanation.blames]
        if not explanation.explained or not explanation.is_stated or not causes:
            continue
        judged = {_is_fault(base.node, flow, cause) for cause in causes}
        if None not in judged:
            found[False not in judged].append(symptom)
    return BrokenFlows(tuple(found[True]), tuple(found[False]))


def find_complained(base: World, complained: Sequence[Complained]) -> BrokenFlows:
    """Return those connections that people complain of and that fail on stated facts, in a way that
    fits how they say it fails.

    They are suspected where the evidence has several that may be meant: a policy may keep the
    chosen one out on purpose.
    """
    found: dict[bool, list[Symptom]] = {True: [], False: []}
    for one in complained:
        symptom = Symptom(
            probe=one.probe, fails=True, result="as reported", kind=one.kind, spans=(one.span,)
        )
        explanation = assess(base, (symptom,))
        if (
            explanation.explained
            and explanation.is_stated
            and explanation.blames
            and not explanation.unlike
        ):
            found[one.is_meant].append(symptom)
    return BrokenFlows(tuple(found[True]), tuple(found[False]))


def doubt(concluded: Conclusion) -> Conclusion:
    """Return the conclusion with its causes as possibilities: nobody said that the connections
    should work.
    """
    causes = tuple(replace(finding, certainty=SUSPECTED) for finding in concluded.causes)
    return replace(concluded, causes=(), possible=(*causes, *concluded.possible))


def tell_walked(flows: Sequence[BaselineFlow]) -> str:
    """Say what was walked where nobody named a connection: how many of each kind."""
    counts = Counter(flow.kind for flow in flows)
    kinds = "; ".join(f"{kind.value}: {counts[kind]}" for kind in BaselineKind if counts[kind])
    return f"No connection was named, so those that every node should carry were walked ({kinds})."


def _is_fault(node: Node, flow: BaselineFlow, cause: Cause) -> bool | None:
    """Tell whether a failure is a fault; False where it may be meant, None where it says
    nothing.
    """
    ends = {HOST, flow.probe.netns, node.find_holder(flow.probe.dst, pods_only=True)}
    if cause.check in SILENT or cause.step.netns not in ends:
        return None
    if cause.check in ABSENT:
        return False
    if cause.check == dropped_by_rule.NAME:
        return _is_unmeant(flow, cause)
    if cause.check in LOST:
        return None if _is_beyond(node, flow, cause) else True
    return True if cause.step.netns == HOST else None


def _is_unmeant(flow: BaselineFlow, cause: Cause) -> bool | None:
    """Tell whether a rule drops what any node should carry; None where it is of those that are
    filled to drop.
    """
    if (
        cause.place is None
        or POLICED.match(cause.place.chain.name)
        or POLICED.match(cause.place.table.name)
    ):
        return None
    if flow.kind is BaselineKind.OPEN_PORT and cause.place.chain.name.startswith("KUBE-"):
        return None
    return flow.kind not in {BaselineKind.OPEN_PORT, BaselineKind.TO_WORLD}


def _is_beyond(node: Node, flow: BaselineFlow, cause: Cause) -> bool:
    """Tell whether the packet was lost where the evidence does not reach: the address only stands
    for a machine elsewhere.

    A pod that only inference shows may be elsewhere too.
    """
    leaving = next(
        (step.link for step in reversed(cause.trace.steps) if step.link is not None), None
    )
    if (
        cause.check == neighbour_failed.NAME
        and cause.step.netns == HOST
        and leaving in uplinks(node)
    ):
        return True  # a machine beside the node is down, or not there: that is no fault of this one
    if flow.kind is BaselineKind.TO_WORLD:
        return cause.step.netns != flow.probe.netns
    source = node.namespaces.get(flow.probe.netns or HOST)
    target = node.namespaces.get(node.find_holder(flow.probe.dst, pods_only=True) or HOST)
    return any(namespace is not None and bool(namespace.inferred) for namespace in (source, target))
