"""ttl-falls: a capture shows one packet again and again, each time with a TTL lower by one.

What it is
    The same packet (ends, identifier, sequence number) appears several times in one capture, and
    its TTL falls by one from line to line.

Why it breaks
    It loops: a route sends it back to where it came from, to lo, or to a router that returns it,
    until its TTL runs out. Its sender gets `Time to live exceeded`, or nothing.

How to confirm
    tcpdump -vni any host ADDRESS               # ttl 44, 43, 42 ... of one packet
    ip route get ADDRESS; ip rule; ip route show table all | grep RANGE

How to fix
    Fix the route that sends it back: a leaked route to dev lo or to another VRF, a default route
    that points back at the sender, two routers that have each other as the next hop.

References
    ip_forward (net/ipv4/ip_forward.c v6.12); RFC 1812, 5.3.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.ROUTING_LOOP, Category.WRONG_ROUTE)
NAME = "ttl-falls"
LEAST = 4
"""Lines of one packet that show a circle: a router has two devices, and a bridge before each."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first packet that comes round."""
    same: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    for seen in case.sightings:
        one = seen.packet
        who = (one.src, one.dst, one.protocol, one.sport, one.dport)
        what = (one.seq, one.flags, one.icmp_type, one.length)
        same[seen.capture, seen.netns, seen.link, *who, *what].append(seen)
    for copies in same.values():
        falling = _take_falling(copies)
        if len(falling) >= LEAST:
            yield _report(falling)
            return


def _take_falling(copies: Sequence[Sighting]) -> list[Sighting]:
    """Return the first run of copies of which each has one hop less than the one before."""
    run: list[Sighting] = []
    for seen in copies:
        if run and seen.packet.ttl != run[-1].packet.ttl - 1:
            if len(run) >= LEAST:
                return run
            run = []
        run.append(seen)
    return run


def _report(falling: Sequence[Sighting]) -> Finding:
    first, last = falling[0], falling[-1]
    ends = f"{first.packet.src} to {first.packet.dst}"
    place = f" on {first.link}" if first.link else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A packet from {ends} loops{place}: it appears {len(falling)} times, with TTLs from "
            f"{first.packet.ttl} down to {last.packet.ttl}."
        ),
        evidence=tuple(seen.span for seen in falling[:LEAST]),
        reasoning=(
            (
                "Each router decrements the TTL by one: this host sees the same packet again "
                "and again."
            ),
        ),
        breaks=(f"traffic from {ends}",),
        prevention="Check with `ip route get` where a leaked or redistributed route leads.",
        marks=("ttl",),
    )
