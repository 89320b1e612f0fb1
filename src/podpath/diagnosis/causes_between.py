"""What a walk over several nodes shows to be wrong between them: the step on one node that made the
packet fail on the other.
"""

from __future__ import annotations

from podpath.checks.between import mtu_shrinks, pod_route, tunnel_end, tunnel_mac, tunnel_network
from podpath.checks.cause import Cause
from podpath.datapath.reasons.devices import FrameForOther, TooLongForEnd, VniUnknown
from podpath.datapath.reasons.failures import LeftForPodOf, OuterDelivered
from podpath.datapath.tracing.trace import Branch, Step, Trace
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.node.node import NetnsRole, Node

_ROUTED = (StageName.ROUTE_INPUT, StageName.ROUTE_OUTPUT)


def find_between(node: Node, branch: Branch, trace: Trace) -> Cause | None:
    """Name what one node holds of the other that ended the connection; None where it is nothing of
    the kind.
    """
    found = _find(node, branch, trace)
    if found is None:
        return None
    check, step = found
    return Cause(check=check, branch=branch, trace=trace, step=step)


def _find(node: Node, branch: Branch, trace: Trace) -> tuple[str, Step] | None:
    last = trace.deciding
    wrapped = _last(trace, StepDecision.ENCAPSULATE)
    if isinstance(branch.failure, LeftForPodOf):
        if wrapped is not None and _is_last_hop(trace, wrapped):
            return tunnel_end.NAME, wrapped
        routed = _routed_out(node, trace)
        return (pod_route.NAME, routed) if routed is not None else None
    if isinstance(last.reason, TooLongForEnd):
        return mtu_shrinks.NAME, last
    if isinstance(last.reason, VniUnknown):
        return tunnel_network.NAME, last
    if isinstance(branch.failure, OuterDelivered) and wrapped is not None:
        return tunnel_network.NAME, wrapped
    if isinstance(last.reason, FrameForOther) and _is_unwrapped(trace):
        resolved = _before(trace, wrapped, StepDecision.RESOLVE)
        return (tunnel_mac.NAME, resolved) if resolved is not None else None
    return None


def _last(trace: Trace, decision: StepDecision) -> Step | None:
    return next((step for step in reversed(trace.steps) if step.decision is decision), None)


def _is_last_hop(trace: Trace, wrapped: Step) -> bool:
    """Tell whether the packet was still in that tunnel when it left."""
    after = trace.steps[trace.steps.index(wrapped) :]
    return all(step.decision is not StepDecision.DECAPSULATE for step in after)


def _is_unwrapped(trace: Trace) -> bool:
    """Tell whether the frame that was refused came out of a tunnel just before."""
    earlier = [step.decision for step in trace.steps[-4:]]
    return StepDecision.DECAPSULATE in earlier


def _before(trace: Trace, last: Step | None, decision: StepDecision) -> Step | None:
    """Return the step of that decision which is nearest before another."""
    if last is None:
        return None
    earlier = trace.steps[: trace.steps.index(last)]
    return next((step for step in reversed(earlier) if step.decision is decision), None)


def _routed_out(node: Node, trace: Trace) -> Step | None:
    """Return the step by which a host routed a packet out of the cluster."""
    return next(
        (
            step
            for step in reversed(trace.steps)
            if step.stage in _ROUTED
            and step.netns in node.namespaces
            and node.namespaces[step.netns].role == NetnsRole.HOST
        ),
        None,
    )
