"""policy-unlike-rules: the rules of a network plugin do not do what the NetworkPolicies say.

What it is
    A NetworkPolicy states an intent; the plugin turns it into rules on each node. Here the two do
    not match: a plugin's chain drops what the policies shown admit, or nothing in a node's rules
    drops what they forbid.

Why it breaks
    A plugin that has stopped or lost the API leaves the rules of an earlier state in place: packets
    of pods created since are dropped, and addresses of deleted pods are still admitted. Policies of
    the plugin's own kinds (Calico's GlobalNetworkPolicy, AdminNetworkPolicy) count in addition to
    those of Kubernetes. A plugin that knows no policies (flannel, kindnet before 1.31) lets
    everything through; one that enforces them with BPF programs shows no rules.

How to confirm
    kubectl get networkpolicy -A; kubectl get pods -A -o wide | grep -e calico -e kube-router
    iptables-save -c | grep -e cali- -e KUBE-NWPLCY -e KUBE-POD-FW -e WEAVE-NPC
    bpftool net; tc filter show dev DEVICE ingress

How to fix
    Restart the plugin's pod on that node and read its log; ask for its own kinds of policies. If it
    does not support policies, install a plugin that does, or do without the policy.

References
    kubernetes.io "Network Policies" (prerequisites); Calico's Felix; kube-router's network policy
    controller
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.netfilter import dropped_by_rule, forward_policy
from podpath.checks.policies import KIND, PolicyAnswer, PolicyBook
from podpath.datapath.tracing.trace import Branch, Conversation, Trace
from podpath.datapath.vocabulary import Reachability
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.objects import ApiObject

CATEGORIES = (Category.NETWORK_POLICY,)
NAME = "policy-unlike-rules"
"""Seen by walks alone: by one that ends at a plugin's rule, or at none that a policy wants."""
PREVENTION = "Monitor that the plugin's pod is ready on every node, and alert when it restarts."
_DROPS = frozenset({dropped_by_rule.NAME, forward_policy.NAME})
_PLUGIN = re.compile(r"cali-|KUBE-(?:NWPLCY|POD-FW|ROUTER)|WEAVE-NPC|CILIUM_|ANTREA-")
"""Chains that plugins make of policies."""
_ENFORCED = FollowUp(
    fact="whether anything enforces NetworkPolicies on these nodes, and what",
    command="kubectl get pods -A -o wide | grep -e calico -e cilium -e kube-router -e weave -e ovn",
    decides=(
        "a plugin that enforces them with BPF programs drops it; if there is none, or its pod "
        "does not run on that node, the policy is not in force"
    ),
)


def tell_unlike(case: Case, finding: Finding) -> Finding:
    """Return a finding of a plugin's rule that drops, with what the policies say of the packet: as
    what it is where they admit it, with their lines where they forbid it.
    """
    branch = finding.shown_by
    policies = list_policies(case)
    if finding.check not in _DROPS or branch is None or not branch.traces or not policies:
        return finding
    trace = branch.last
    if trace is not branch.traces[0] or not _is_of_plugin(trace):
        return finding
    last = trace.deciding.before
    if last.src != trace.packet.src:
        return finding
    asked = Probe(last.protocol, last.src, last.dst, dport=last.dport)
    said = PolicyBook(case, policies).rule_on(asked)
    spans = tuple(dict.fromkeys((*finding.evidence, *said.spans)))
    flow = f"{asked.src} to {asked.dst}:{asked.dport}"
    if said.ruling is PolicyAnswer.FORBIDDEN:
        agreed = "None of the NetworkPolicies shown admits it: change these, not the rules."
        return replace(finding, evidence=spans, reasoning=(*finding.reasoning, agreed))
    if said.ruling is not PolicyAnswer.ADMITTED:
        return finding
    return replace(
        finding,
        check=NAME,
        claim=(
            f"The plugin's rules drop {flow}, which the NetworkPolicies shown admit: the rules do "
            "not match these policies."
        ),
        evidence=spans,
        prevention=PREVENTION,
    )


def find_unenforced(
    case: Case, conversations: Sequence[Conversation], probes: Sequence[Probe]
) -> Iterator[Finding]:
    """Yield the connections in question that no rule drops and that the policies forbid."""
    policies = list_policies(case)
    book = PolicyBook(case, policies) if policies else None
    walked = {one.probe: one for one in conversations}
    for probe in probes if book is not None else ():
        conversation = walked.get(probe)
        said = book.rule_on(probe) if book is not None else None
        if conversation is None or said is None or said.ruling is not PolicyAnswer.FORBIDDEN:
            continue
        if conversation.verdict in {Reachability.NEVER, Reachability.UNDECIDED}:
            continue
        passed = next((one for one in conversation.branches if one.works), None)
        yield Finding(
            check=NAME,
            severity=Severity.CAUSE,
            claim=(
                f"A NetworkPolicy forbids {probe.src} to {probe.dst}:{probe.dport}, and no rule "
                "shown drops it: something else may."
            ),
            evidence=(*said.spans, *_list_passed(passed)),
            reasoning=(said.because,) if said.because else (),
            certainty=0.5,
            asks=(_ENFORCED,),
            prevention=PREVENTION,
        )


def list_policies(case: Case) -> list[ApiObject]:
    """Return the policies that are shown with what they want."""
    return [one for one in case.objects if one.kind == KIND and one.tree.at("spec") is not None]


def _is_of_plugin(trace: Trace) -> bool:
    """Tell whether the rule that decided stands in a chain that a plugin makes of policies."""
    spans = trace.deciding.spans
    chains = (hit.rule.chain for hit in trace.matched if hit.rule.span in spans)
    return any(_PLUGIN.match(chain) is not None for chain in chains)


def _list_passed(branch: Branch | None) -> tuple[Span, ...]:
    """Return the line of the last rule that the first packet met."""
    hits = branch.traces[0].matched if branch is not None and branch.traces else ()
    return (hits[-1].rule.span,) if hits else ()
