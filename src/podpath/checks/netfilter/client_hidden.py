"""client-hidden: a NetworkPolicy admits the client, but its packets arrive with another source
address.

What it is
    A NetworkPolicy selects the server's pod and admits the client by its labels or address. On the
    way, a rule translates the source (masquerading that is not limited to traffic leaving the
    cluster, externalTrafficPolicy Cluster, a service that kube-proxy masquerades), so the plugin's
    rules see a node's address in place of the client's.

Why it breaks
    The rules of the policy match addresses. A node's is not among those that it admits, so the
    plugin drops what the policy means to admit, while packets that keep their pod's address get
    through.

How to confirm
    conntrack -L -d POD                            # on the translating node: the reply's dst
    tcpdump -ni any host POD                       # on the pod's node: which source?
    iptables-save -c -t nat | grep -e MASQUERADE -e SNAT

How to fix
    Do not translate traffic that stays within the cluster: exclude the range of all pods where
    masquerading is configured (ip-masq-agent's nonMasqueradeCIDRs, flannel's --ip-masq with the
    cluster's range, kube-proxy's --cluster-cidr without --masquerade-all), or use
    externalTrafficPolicy Local. An ipBlock with the nodes' addresses admits them, too, and with
    them everyone behind these nodes.

References
    kubernetes.io "Network Policies" (ipBlock and rewriting of source addresses)
"""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.netfilter import dropped_by_rule, forward_policy
from podpath.checks.policies import KIND, PolicyAnswer, PolicyBook
from podpath.datapath.tracing.trace import Step, Trace
from podpath.net.probe import Probe
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_POLICY, Category.MASQUERADE_UNWANTED)
NAME = "client-hidden"
"""Seen by walks alone: by one that ends at a rule after its source was translated."""
PREVENTION = "Never masquerade between pods: exclude the whole pod range, not just the node's own."
_DROPS = frozenset({dropped_by_rule.NAME, forward_policy.NAME})


def tell_hidden(case: Case, finding: Finding) -> Finding:
    """Return a finding of a rule that drops, told as what it is where a policy admits the client
    and not the address that it has there; else as it was.
    """
    branch = finding.shown_by
    policies = [one for one in case.objects if one.kind == KIND and one.tree.at("spec") is not None]
    if finding.check not in _DROPS or branch is None or not branch.traces or not policies:
        return finding
    trace = branch.last
    last = trace.deciding
    hiding = _find_hiding(trace)
    if hiding is None or last.before.src == trace.packet.src:
        return finding
    book = PolicyBook(case, policies)
    meant = Probe(last.before.protocol, trace.packet.src, last.before.dst, dport=last.before.dport)
    admits = book.rule_on(meant)
    seen = book.rule_on(meant._replace(src=last.before.src))
    if (admits.ruling, seen.ruling) != (PolicyAnswer.ADMITTED, PolicyAnswer.FORBIDDEN):
        return finding
    return replace(
        finding,
        check=NAME,
        claim=(
            f"A NetworkPolicy admits {trace.packet.src} to {last.before.dst}:{last.before.dport}, "
            f"but its packets arrive from {last.before.src}, which it does not admit."
        ),
        evidence=tuple(
            dict.fromkeys((*finding.evidence[:1], *hiding.spans, *admits.spans, *finding.evidence))
        ),
        reasoning=(
            (
                "The source is translated on the way, so the policy's rules see an address other "
                "than the client's."
            ),
            *finding.reasoning,
        ),
        prevention=PREVENTION,
    )


def _find_hiding(trace: Trace) -> Step | None:
    """Return the step that gave the packet another source."""
    return next((step for step in trace.steps if step.before.src != step.after.src), None)
