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
    return any(
        (step.decision in _TRANSLATIONS and not isinstance(step.reason, TranslatedAsFirst))
        or (
            step.decision is StepDecision.INVALID
            and _translates(walk.engine.node.namespaces[step.netns])
        )
        for step in trace.steps
    )


def _translates(netns: Netns) -> bool:
    """Tell whether a namespace may have rules that translate."""
    chains = [
        chain
        for netfilter in netns.netfilter.values()
        for table in netfilter.tables
        if table.name == "nat"
        for chain in table.chains.values()
    ]
    if any(not isinstance(chain, Known) or chain.value.rules for chain in chains):
        return True
    return any(
        chain.type == "nat" and chain.rules
        for table in netns.nftables.items
        for chain in table.chains.values()
    )
