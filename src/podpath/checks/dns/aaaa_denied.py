"""aaaa-denied: a name server has an IPv4 address for a name, but denies that the name exists when
asked for an IPv6 address.

What it is
    The query for A is answered; the one for AAAA of the same name gets NXDOMAIN, SERVFAIL, REFUSED
    or NOTIMP, where the right answer is NOERROR without a record.

Why it breaks
    Resolvers ask for both at once. NXDOMAIN says that nothing of that name exists at all (RFC
    8020): musl, the C library of Alpine, then treats the name as unknown, and gives up on any other
    error, too; caches keep the denial for both. glibc uses the address that it got, so the same
    name works in other images.

How to confirm
    dig NAME A @SERVER; dig NAME AAAA @SERVER
    getent ahosts NAME    # in an Alpine container

How to fix
    Let the server answer NOERROR without a record: a newer dnsmasq, CoreDNS's `template` with
    `rcode NOERROR`, a firewall or load balancer in front of it that knows AAAA. Until then, add a
    record of that type, or use a client with glibc.

References
    RFC 2308, 2.2; RFC 8020; musl, src/network/lookup_name.c:name_from_dns (v1.2.5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import NameReply
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.DNS_SERVER, Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION)
NAME = "aaaa-denied"
DENIALS = frozenset({"NXDOMAIN", "SERVFAIL", "REFUSED", "NOTIMP", "FORMERR"})
POSSIBLE = 0.7
"""Where nothing says that the client is one that minds."""
ASK = FollowUp(
    "whether the client minds: musl does, glibc does not",
    "getent ahosts NAME; cat /etc/os-release   # in the client's container",
    "Alpine, and no address: this is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first name that has an address and is denied for the other family."""
    if not any(True for _ in list_failing(case)):
        return
    replies = [(reply, stated.span) for reply, stated in statements_of(case, NameReply)]
    replies += [
        (NameReply(one.values["name"], one.values["type"], one.values["code"]), one.span)
        for one in find_said(case, MessageKind.NAME_REPLIED)
    ]
    known = {reply.name: span for reply, span in replies if _is_found(reply)}
    denied = {reply.name for reply, _ in replies if reply.type == "A" and reply.code in DENIALS}
    for reply, span in replies:
        minds = reply.type == "AAAA" and reply.code in DENIALS
        if minds and reply.name in known and reply.name not in denied:
            yield _report(reply, (span, known[reply.name]), sure=Technology.MUSL in case.mentions)
            return


def _is_found(reply: NameReply) -> bool:
    return reply.type == "A" and reply.code == "NOERROR" and not reply.empty


def _report(reply: NameReply, spans: tuple[Span, Span], *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The name server answers {reply.code} when it is asked for an IPv6 address of "
            f"{reply.name}, which exists: resolvers such as musl's drop its IPv4 address, too."
        ),
        evidence=spans,
        reasoning=("Without a record of that type, the right answer is NOERROR and no record.",),
        breaks=(f"connections to {reply.name} from clients that ask for both families",),
        prevention="Test each zone for A and AAAA.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=(reply.code,),
    )
