"""A TCP connection that stands already, of which conntrack knows no more than the evidence shows.

Its ends have sockets for the addresses that it was translated to when it began. Where that is not
in evidence, nobody can tell whether a packet that is translated anew, or not at all, is still
theirs.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.reasons.translation import TranslatedAsFirst
from podpath.datapath.tracing.trace import Delivered, Trace, Transmitted
from podpath.datapath.vocabulary import BoundaryName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Known
from podpath.node.node import Netns

_TRANSLATIONS = frozenset({StepDecision.SNAT, StepDecision.DNAT})


def doubt(walk: Walk, skb: Skb, trace: Trace) -> Trace:
    """Return the trace, undecided where the packet arrives and may have other ends than the
    connection's sockets have.
    """
    if not isinstance(trace.outcome, Delivered | Transmitted) or not _may_be_of_others(walk, trace):
        return trace
    outcome = boundary(walk, skb, BoundaryName.MIDWAY)
    return replace(trace, steps=tuple(walk.trace.steps), outcome=outcome)


def _may_be_of_others(walk: Walk, trace: Trace) -> bool:
    """Tell whether a rule translated it, or conntrack calls it invalid where rules translate."""
    for step in trace.steps:
        if step.decision in _TRANSLATIONS and not isinstance(step.reason, TranslatedAsFirst):
            return True
        if step.decision is not StepDecision.INVALID:
            continue
        if _translates(walk.engine.node.namespaces[step.netns]):
            return True
    return False


def _translates(netns: Netns) -> bool:
    """Tell whether a namespace may have rules that translate."""
    for table in netns.tables:
        if table.name != "nat":
            continue
        for fact in table.chains.values():
            if not isinstance(fact, Known) or fact.value.rules:
                return True
    for native in netns.nftables.items:
        if any(chain.type == "nat" and chain.rules for chain in native.chains.values()):
            return True
    return False
