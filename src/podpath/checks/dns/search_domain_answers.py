"""search-domain-answers: a whole name is looked up below a search domain, and something there
answers.

What it is
    With `options ndots:5`, which pods have, a resolver tries a name with fewer than five dots below
    each search domain first. A wildcard record in one of these domains answers for every name: for
    the short name of a service of another namespace, too, when a pod asks for it.

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
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.provenance import Span
from podpath.net.statements import NameAnswer
from podpath.node.case import Case
from podpath.node.node import HOST

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "search-domain-answers"
WHOLE = 2
"""Dots from which on a name is meant as it stands: `web.shop` may be a service's."""
_OF_CLUSTER = ("cluster.local", "svc")
_OF_WORLD = (".com", ".net", ".org", ".edu", ".gov", ".info", ".io")
"""How names end that are meant as they stand though they have one dot: no namespace is called
so.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report the first name that is found below another domain, where people say that
    anything fails.
    """
    if not any(True for _ in list_failing(case)):
        return
    for answer, stated in statements_of(case, NameAnswer):
        head, _, domain = answer.found.partition(f"{answer.asked}.")
        known = answer.asked.count(".") >= WHOLE or answer.asked.endswith(_OF_WORLD)
        whole = known and not answer.asked.endswith(_OF_CLUSTER)
        if head or not domain or domain.endswith(_OF_CLUSTER):
            continue
        if whole:
            yield _report(answer, domain, stated.span)
            return
        named = (one for one in see(case, "Service") if one.name == answer.asked)
        service = next(named, None) if stated.netns != HOST else None
        if service is not None:
            yield _report_short(answer, domain, (stated.span, service.span), service.title)
            return


def _report_short(answer: NameAnswer, domain: str, spans: tuple[Span, ...], title: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The short name {answer.asked} was answered for {answer.found}, below {domain}, and "
            f"not for the service {title}."
        ),
        evidence=spans,
        reasoning=(
            "A service's short name is known in its own namespace alone.",
            "Elsewhere the resolver goes on to the other search domains.",
        ),
        breaks=(f"connections to {title} by its short name, from other namespaces",),
        prevention="Name services of other namespaces with theirs: NAME.NAMESPACE.",
        marks=(answer.found,),
    )


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
