"""empty-set: a rule matches an ipset that has no members, so what it should accept is dropped.

What it is
    An accepting rule of a network policy (Calico's cali40s:..., kube-router's KUBE-SRC-..., Weave's
    weave-...) or of an admin matches on a set that the evidence shows in full and empty, or that
    does not exist.

Why it breaks
    The rule never matches. The agent that fills the set is not running or does not see the pod
    (labels, namespace, a pod older than the plugin), or the set's name belongs to an older policy.

How to confirm
    ipset list SET; kubectl get pods -l SELECTOR -A -o wide

How to fix
    Restart the agent on the node, make the policy's selector match the client's labels, or recreate
    the client pod if it is older than the plugin.

References
    ipset(8); set_match_v4 (net/netfilter/xt_set.c)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import owner_of
from podpath.checks.topology import known_rules, option_values
from podpath.node.case import Case
from podpath.node.netfilter import IpSet, Rule

CATEGORIES = (Category.NETWORK_POLICY, Category.CNI_AGENT)
NAME = "empty-set"
_INERT = frozenset({"DROP", "REJECT", "LOG", "NFLOG"})


def check(case: Case) -> Iterator[Finding]:
    """Report each accepting rule whose set is shown whole and empty."""
    for netfilter in case.node.host.netfilter.values():
        empty = {
            name: one for name, one in netfilter.sets.items() if one.complete and not one.members
        }
        if not empty:
            continue
        for table in netfilter.tables:
            for rule in known_rules(table):
                name = next(iter(option_values(rule, "set", "match-set")), "")
                if name in empty and rule.target is not None and rule.target.name not in _INERT:
                    yield _report(rule, empty[name])


def _report(rule: Rule, empty: IpSet) -> Finding:
    whose = owner_of(rule)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain}{f' ({whose})' if whose else ''} admits the members of "
            f"{empty.name}, which is empty."
        ),
        evidence=(*((empty.span,) if empty.span is not None else ()), rule.span),
        reasoning=(
            (
                "A rule that matches on an empty set never matches, so the packet goes on to the "
                "rule or policy that drops it."
            ),
        ),
        breaks=("clients that the rule should let in",),
        prevention="Monitor the agent that fills the sets.",
        certainty=0.7,
        marks=(empty.name,),
        asks=(
            FollowUp(
                fact=f"which pods {empty.name} should hold",
                command="kubectl get networkpolicy,pods -A -o wide --show-labels",
                decides=(
                    "a client's labels match the policy: the set should hold its address, and "
                    "the agent has not put it there"
                ),
            ),
        ),
    )
