"""search-domain-answers: a whole name is looked up below a search domain, and something there
answers.

What it is
    With `options ndots:5`, which pods have, a resolver tries a name with fewer than five dots below
    each search domain first. A wildcard record in one of these domains answers for every name.

Why it breaks
    The program connects to the wildcard's address instead of the server that it asked for: it is
    refused, sees a foreign certificate, or times out. Where only one of several name servers knows
    the wildcard, it happens at times only.

How to confirm
    nslookup NAME; nslookup NAME.    # with the dot at its end, no search domain is tried
    cat /etc/resolv.conf

How to fix
    Ask for the name with a dot at its end, set dnsConfig.options ndots: "1" for the pod, or take
    the domain with the wildcard out of the node's search list.

References
    resolv.conf(5), ndots; Kubernetes, DNS for Services and Pods, Pod's DNS Config
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.provenance import Span
from podpath.net.statements import NameAnswer
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "search-domain-answers"
WHOLE = 2
"""Dots from which on a name is meant as it stands: `web.shop` may be a service's."""
_OF_CLUSTER = ("cluster.local", "svc")


def check(case: Case) -> Iterator[Finding]:
    """Report the first whole name that is found below another domain, where people say that
    anything fails.
    """
    if not any(True for _ in list_failing(case)):
        return
    for answer, stated in statements_of(case, NameAnswer):
        head, _, domain = answer.found.partition(f"{answer.asked}.")
        whole = answer.asked.count(".") >= WHOLE and not answer.asked.endswith(_OF_CLUSTER)
        if whole and not head and domain and not domain.endswith(_OF_CLUSTER):
            yield _report(answer, domain, stated.span)
            return


def _report(answer: NameAnswer, domain: str, span: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The lookup of {answer.asked} was answered for {answer.found}, below {domain}.",
        evidence=(span,),
        reasoning=("A resolver tries the search domains before the name itself (ndots).",),
        breaks=(f"connections to {answer.asked}",),
        prevention="Ask for external names with a dot at their end, or lower ndots.",
        marks=(answer.found,),
    )
