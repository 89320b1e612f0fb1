"""insert-failed: connection tracking dropped packets that raced to create the same entry.

What it is
    `conntrack -S` shows insert_failed (or clash) above zero: two packets each created an entry, and
    only one of the entries could be inserted into the table.

Why it breaks
    A resolver sends its A and AAAA queries from one socket at the same time. Both are unconfirmed,
    both may be translated by DNAT, and the loser is dropped: the client waits 5 seconds and asks
    again. Port clashes in MASQUERADE do the same to TCP SYNs (retried after 1 s and 3 s). The fault
    comes and goes with load.

How to confirm
    conntrack -S | grep -o 'insert_failed=[0-9]*'    # before and after a failure
    tcpdump -ni any port 53    # a query without an answer, repeated after 5 s

How to fix
    Use NodeLocal DNSCache (no NAT in between), `options single-request-reopen` or `use-vc` in
    resolv.conf, or kernel 5.0 or later; for SNAT, --random-fully.

References
    __nf_conntrack_confirm, nf_ct_resolve_clash (net/netfilter/nf_conntrack_core.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.failures import FailureKind
from podpath.net.firewall import TrackingCount
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.CONNTRACK_RACE,)
NAME = "insert-failed"
_FIVE_SECONDS = re.compile(r"\b(?:5|five)[- ]?(?:s\b|sec)", re.IGNORECASE)
"""resolv.conf(5), timeout: after that a resolver asks again."""
LIKELY = 0.9
"""A first name server that is silent costs five seconds, too, and the count is since the start."""
SOME = 100
"""From here on it is more than what every busy host shows."""


def check(case: Case) -> Iterator[Finding]:
    """Report a count of entries that could not be inserted."""
    for count, stated in statements_of(case, TrackingCount):
        if count.name == "insert_failed" and count.value:
            yield _report(count.value, stated.span, _find_delay(case))


def _find_delay(case: Case) -> Span | None:
    """Return the sentence that says that lookups take the five seconds of a resolver's timeout."""
    for one in list_failing(case):
        dns = Technology.DNS in one.mentions or one.failure is FailureKind.NAME_NOT_RESOLVED
        if dns and _FIVE_SECONDS.search(one.span.text):
            return one.span
    return None


def _rate(value: int, delay: Span | None) -> float:
    if value < SOME:
        return 0.5
    return 0.7 if delay is None else LIKELY


def _report(value: int, span: Span, delay: Span | None) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Connection tracking dropped {value} packets because another packet had inserted the "
            "same entry first."
        ),
        evidence=(span, *((delay,) if delay is not None else ())),
        reasoning=("Two packets raced to create the same entry; the later one is dropped.",),
        breaks=("an occasional DNS query, which is retried after 5 seconds; an occasional SYN",),
        prevention="Use a cache on the node, with no NAT in between (NodeLocal DNSCache).",
        certainty=_rate(value, delay),
        marks=(f"insert_failed={value}",),
        asks=(
            FollowUp(
                fact="whether insert_failed grows with the failures",
                command="conntrack -S (before and after one)",
                decides="it grows by the number of failures: this race causes them",
            ),
        ),
    )
