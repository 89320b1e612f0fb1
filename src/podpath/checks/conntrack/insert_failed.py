"""insert-failed: connection tracking has dropped packets that raced to make the same entry.

What it is
    `conntrack -S` counts insert_failed (or clash) above zero: two packets made an entry each, and
    only one could be taken into the table.

Why it breaks
    A resolver sends its A and AAAA questions from one socket at the same time; both are
    unconfirmed, DNAT may choose for both, and the loser is dropped: the client waits 5 seconds and
    asks again. Port clashes of MASQUERADE do the same to TCP's SYN (1 s, 3 s). It comes and goes,
    with load.

How to confirm
    conntrack -S | grep -o 'insert_failed=[0-9]*' twice, with the failure between
    tcpdump -ni any port 53: a question
    without an answer, asked again after 5 s

How to fix
    NodeLocal DNSCache (no NAT on the way), `options single-request-reopen` or `use-vc` in
    resolv.conf, a kernel from 5.0 on; for SNAT --random-fully.

References
    __nf_conntrack_confirm, nf_ct_resolve_clash (net/netfilter/nf_conntrack_core.c)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.firewall import TrackingCount
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.CONNTRACK_RACE,)
NAME = "insert-failed"
SOME = 100
"""From here on it is more than what every busy host shows."""


def check(case: Case) -> Iterator[Finding]:
    """Report a count of entries that could not be inserted."""
    for count, stated in statements_of(case, TrackingCount):
        if count.name == "insert_failed" and count.value:
            yield _report(count.value, stated.span)


def _report(value: int, span: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Connection tracking has dropped {value} packets whose entry another packet had "
            "inserted first."
        ),
        evidence=(span,),
        reasoning=(
            "Two packets of one connection raced: the second one to reach the table is dropped.",
        ),
        breaks=("an occasional DNS query, which is retried after 5 seconds; an occasional SYN",),
        prevention="Ask a cache on the node without NAT in between (NodeLocal DNSCache).",
        certainty=0.7 if value >= SOME else 0.5,
        marks=(f"insert_failed={value}",),
        asks=(
            FollowUp(
                fact="whether insert_failed grows with the failures",
                command="conntrack -S (before and after one)",
                decides="it grows by the number of failures: they are this race",
            ),
        ),
    )
