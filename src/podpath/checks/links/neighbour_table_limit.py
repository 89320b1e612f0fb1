"""neighbour-table-limit: the neighbor table holds as many entries as gc_thresh3 allows.

What it is
    The entries of `ip neigh` or `arp -an`, counted by somebody or listed in full, reach
    net.ipv4.neigh.default.gc_thresh3, which an output states, too.

Why it breaks
    At gc_thresh3 the kernel makes no new entry unless it can throw an old one away: connections to
    addresses of the same link that it does not know yet fail at random (ENOBUFS, no route to host).
    Every pod that a node talks to directly, and every node of a large network, takes an entry.

How to confirm
    ip -4 neigh | wc -l; sysctl net.ipv4.neigh.default.gc_thresh3
    dmesg | grep 'table overflow'; ip -s ntable show name arp_cache | grep table_fulls

How to fix
    sysctl -w net.ipv4.neigh.default.gc_thresh1=8192 net.ipv4.neigh.default.gc_thresh2=32768
    net.ipv4.neigh.default.gc_thresh3=65536, and the same in /etc/sysctl.d.

References
    neigh_alloc (net/core/neighbour.c v6.12); arp(7), gc_thresh3
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.checks.topology import known_sysctl
from podpath.net.provenance import Span
from podpath.net.statements import NeighbourCount
from podpath.node.case import Case

CATEGORIES = (Category.NEIGHBOUR_TABLE_FULL,)
NAME = "neighbour-table-limit"
MOST = "net.ipv4.neigh.default.gc_thresh3"
NEAR = 0.95
"""The share of the table at which a burst fills it."""
POSSIBLE = 0.8
"""Permanent entries and those of IPv6 are counted by people, and not by the kernel."""


def check(case: Case) -> Iterator[Finding]:
    """Report a count that reaches the limit."""
    limit = known_sysctl(case.node.host, MOST)
    if limit is None or not limit.value.isdecimal() or limit.span is None:
        return
    most = int(limit.value)
    for count, span in _list_counts(case):
        if most and count >= most * NEAR:
            yield _report(count, most, (span, limit.span))
            return


def _list_counts(case: Case) -> Iterator[tuple[int, Span]]:
    """Yield how many entries there are, as people counted them, or as a whole listing shows."""
    for counted, stated in statements_of(case, NeighbourCount):
        yield counted.value, stated.span
    listing = case.node.host.neighbours
    if listing.complete and listing.span is not None:
        own = [one for one in listing.items if one.address.family == 4 and one.inferred is None]
        yield len(own), listing.span


def _report(count: int, most: int, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The neighbor table has {count} entries, and the kernel allows {most}.",
        evidence=spans,
        reasoning=("At the limit, no neighbor that is not known yet gets an entry.",),
        breaks=("connections to addresses of the same link that are not known yet, at random",),
        prevention="Raise gc_thresh1 to 3 above the number of nodes and of pods on a node.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "whether the kernel could not make entries",
                "dmesg | grep -i 'neighbo.*overflow'; ip -s -4 ntable show name arp_cache",
                "a line about an overflow, or table_fulls that grows: the table is full",
            ),
        ),
        marks=(str(count), str(most)),
    )
