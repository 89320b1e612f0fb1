"""search-domain-answers: a whole name is looked up below a search domain, and something there
answers.

What it is
    With `options ndots:5`, which pods have, a resolver tries a name with fewer than five dots under
    each search domain first. A wildcard record in one of these domains answers for every name,
    including the short name of a service in another namespace. Or it says of every name that it
    exists but has no record (NOERROR with ANSWER: 0 where NXDOMAIN is right).

Why it breaks
    The program connects to the wildcard's address instead of the server that it asked for: it is
    refused, sees a foreign certificate, or times out. If only one of several name servers has the
    wildcard, it happens only some of the time. An answer without a record also ends the search for
    musl, the C library of Alpine: it reports that the name has no address and does not try the name
    itself. glibc goes on.

How to confirm
    nslookup NAME; nslookup NAME.    # with the dot at its end, no search domain is tried
    cat /etc/resolv.conf

How to fix
    Ask for the name with a trailing dot, set dnsConfig.options ndots: "1" for the pod, or take the
    domain with the wildcard out of the node's search list.

References
    resolv.conf(5), ndots; musl, src/network/lookup_name.c:name_from_dns_search (v1.2.5);
    Kubernetes, DNS for Services and Pods, Pod's DNS Config
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.failures import NAMES, FailureKind
from podpath.net.provenance import Span
from podpath.net.statements import NameAnswer, NameReply
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.node import HOST

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "search-domain-answers"
POSSIBLE = 0.7
_OF_MUSL = frozenset({"alpine", "musl"})
"""Words of a sentence that says that such a client gets its answer."""
_WORD = re.compile(r"[\w.-]*\w")
_NAMES = NAMES | {None, FailureKind.NAME_NOT_RESOLVED}
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
    yield from _find_empty(case)


def _find_empty(case: Case) -> Iterator[Finding]:
    """Report the first name that is said not to be resolved and of which a server says, below a
    search domain, that it exists without a record.
    """
    searched = {domain.text for one in see(case, "ResolvConf") for domain in one.items_at("search")}
    works = [one.spoken for one in case.complaints if one.works]
    musl = Technology.MUSL in case.mentions and not any(map(_OF_MUSL.intersection, works))
    for reply, stated in statements_of(case, NameReply):
        if reply.type != "A" or reply.code != "NOERROR" or not reply.empty:
            continue
        for one in list_failing(case):
            words = _WORD.findall(one.span.text)
            asked = [word for word in words if "." in word and reply.name.startswith(f"{word}.")]
            if not asked or one.failure not in _NAMES:
                continue
            name = max(asked, key=len)
            domain = reply.name.removeprefix(f"{name}.")
            known = domain in words or domain in searched
            spans = (stated.span, one.span)
            yield _report_empty((name, domain), spans, sure=known and musl)
            return


def _report_empty(names: tuple[str, str], spans: tuple[Span, Span], *, sure: bool) -> Finding:
    name, domain = names
    ask = FollowUp(
        f"whether {domain} is in the client's search list, and its C library is musl",
        "cat /etc/resolv.conf /etc/os-release   # in the client's container",
        "both: musl takes the answer without a record for the last word",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A server says that {name}.{domain} exists and has no address: whoever searches "
            f"{domain} first and stops there, as musl does, never asks for {name}."
        ),
        evidence=spans,
        reasoning=("NXDOMAIN lets every resolver go on; NOERROR without a record ends musl's.",),
        breaks=(f"lookups of {name} by Alpine's containers",),
        prevention=f"Let the server of {domain} answer NXDOMAIN for names that it does not have.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ask,),
        marks=(name,),
    )


def _report_short(answer: NameAnswer, domain: str, spans: tuple[Span, ...], title: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The short name {answer.asked} was answered for {answer.found}, under {domain}, and "
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
        claim=f"The lookup of {answer.asked} was answered for {answer.found}, under {domain}.",
        evidence=(span,),
        reasoning=("A resolver tries the search domains before the name itself (ndots).",),
        breaks=(f"connections to {answer.asked}",),
        prevention="Ask for external names with a dot at their end, or lower ndots.",
        marks=(answer.found,),
    )
