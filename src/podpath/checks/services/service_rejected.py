"""service-rejected: kube-proxy rejects a service's address because the service has no endpoints.

What it is
    KUBE-SERVICES or KUBE-EXTERNAL-SERVICES in the filter table has a REJECT with the comment "has
    no endpoints".

Why it breaks
    Clients get "Connection refused" immediately. No pod matches the service's selector, none of
    those that do is ready, or the EndpointSlice's port is named differently from the service's.

How to confirm
    kubectl get endpointslices -l kubernetes.io/service-name=SERVICE; kubectl get pods -l SELECTOR

How to fix
    Make selector, port names and labels match, and find out why the pods are not ready.

References
    kubernetes pkg/proxy/iptables/proxier.go
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import chains_of, ends
from podpath.checks.topology import option_values
from podpath.net.failures import is_failure
from podpath.node.case import Case
from podpath.node.netfilter import Rule

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "service-rejected"
SIGN = "has no endpoints"
FEW = 3
"""So many such rules are quoted because they matter; a whole ruleset has them for services that
nobody asks for.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report services that are rejected: those that somebody tried, those that were asked, and the
    few that are quoted.
    """
    rules = [
        (rule, " ".join(option_values(rule, "comment", "comment")))
        for _, chain in chains_of(case.node.host, "filter")
        for rule in chain.rules
        if ends(rule)
    ]
    found = [(rule, comment) for rule, comment in rules if SIGN in comment]
    tried = {attempt.probe.dst for attempt in case.attempts if is_failure(attempt.result)}
    for rule, comment in found:
        meant = rule.dst is not None and any(rule.dst.prefix.covers(address) for address in tried)
        if meant or rule.packets or len(found) <= FEW:
            yield _report(
                rule, comment.partition(SIGN)[0].strip(), sure=meant or bool(rule.packets)
            )


def _report(rule: Rule, service: str, *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Kube-proxy rejects connections to {service or 'a service'} because it has no "
        "endpoints.",
        evidence=(rule.span,),
        reasoning=("Kube-proxy writes this rule if no ready pod is behind the service.",),
        breaks=(f"every connection to {service or 'the service'}: refused immediately",),
        prevention="Alert on services whose endpoints go to zero.",
        certainty=1.0 if sure else 0.6,
        marks=(SIGN,),
        asks=(
            FollowUp(
                fact=f"whether the failing connection is to {service or 'that service'}",
                command="kubectl get endpointslices -A",
                decides="it is, and no endpoint is listed: this rule refuses it",
            ),
        ),
    )
