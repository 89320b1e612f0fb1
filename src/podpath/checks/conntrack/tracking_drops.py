"""tracking-drops: connection tracking dropped packets because its table was full.

What it is
    `conntrack -S` shows drop or early_drop above zero.

Why it breaks
    drop: no entry could be created (the table was full, or memory was short), and the packet was
    dropped. early_drop: an entry without the ASSURED flag had to make room for a new one; its
    connection continues untranslated, or dies. (What lost a race, insert_failed, counts as a drop,
    too: where both numbers are the same, the table was not full.)

How to confirm
    conntrack -S | grep -oE '(early_)?drop=[0-9]+'
    sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max

How to fix
    sysctl -w net.netfilter.nf_conntrack_max=N, with a larger hash table; exempt the traffic that
    fills the table (NOTRACK).

References
    __nf_conntrack_alloc, early_drop (net/netfilter/nf_conntrack_core.c)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.firewall import TrackingCount
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.CONNTRACK_FULL,)
NAME = "tracking-drops"
COUNTERS = ("drop", "early_drop")
FAILED = "insert_failed"
SLACK = 0.02


def check(case: Case) -> Iterator[Finding]:
    """Report counters of packets dropped for lack of room."""
    failed = sum(
        count.value for count, _ in statements_of(case, TrackingCount) if count.name == FAILED
    )
    found = [
        (count, stated.span)
        for count, stated in statements_of(case, TrackingCount)
        if count.name in COUNTERS and count.value and not _is_of_races(count, failed)
    ]
    if found:
        yield _report([count for count, _ in found], tuple(span for _, span in found))


def _is_of_races(count: TrackingCount, failed: int) -> bool:
    """Tell whether nearly all drops are those of entries that lost a race: the kernel counts each
    of them in both (nf_ct_resolve_clash).
    """
    return count.name == "drop" and failed > 0 and abs(count.value - failed) <= failed * SLACK


def _report(counts: list[TrackingCount], spans: tuple[Span, ...]) -> Finding:
    named = " and ".join(f"{count.name}={count.value}" for count in counts)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Connection tracking had no room for new connections: {named}.",
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("A packet that gets no entry is dropped, whatever the rules say.",),
        breaks=("new connections, intermittently",),
        prevention="Set conntrack.min or conntrack.maxPerCore in kube-proxy's configuration.",
        certainty=0.7,
        marks=tuple(f"{count.name}={count.value}" for count in counts),
        asks=(
            FollowUp(
                fact="how full the table is while it fails",
                command="sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
                decides="near its maximum: the table is the cause",
            ),
        ),
    )
