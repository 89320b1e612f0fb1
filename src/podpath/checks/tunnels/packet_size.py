"""packet-size: a packet is too big for the device or route it must use.

What it is
    The packet is larger than the MTU of the path ahead and may not be fragmented (DF), like nearly
    all TCP packets.

Why it breaks
    The host drops it and answers "fragmentation needed". If that answer does not reach the sender
    (a firewall drops ICMP, or the sender is behind NAT that lost its entry), the sender keeps
    sending packets of the same size. Handshakes and small answers pass, larger ones hang.

How to confirm
    ping -M do -s SIZE DESTINATION
    ip link; ip route get DESTINATION           # mtu of the route, learned or set

How to fix
    Set the same MTU along the pods' path (the CNI plugin's mtu), let ICMP through, or clamp:
    iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu

References
    ip_forward, ip_exceeds_mtu (net/ipv4/ip_forward.c); RFC 1191; RFC 4821
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.net.failures import Ending, FailureKind
from podpath.net.protocols import ICMP
from podpath.node.case import Attempt, Case
from podpath.node.node import HOST

CATEGORIES = (Category.MTU,)
NAME = "packet-size"
"""Walks see it, too: here two pings measure it that may not be fragmented."""
LIKELY = 0.8
"""Where nobody says that large answers hang."""
LARGEST = 1500
"""Bytes that a path carries where its devices do not say otherwise; larger ones prove nothing."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first destination that answers a small ping, and not a larger one that the
    sender's device takes.
    """
    pings = [
        one
        for one in case.attempts
        if one.probe.protocol == ICMP
        and one.probe.sending.dont_fragment
        and one.probe.sending.size is not None
    ]
    for large in pings:
        if large.result is not FailureKind.TIMEOUT or _size(large) > _find_mtu(case, large):
            continue
        small = [
            one
            for one in pings
            if one.result is Ending.OK
            and (one.probe.dst, one.probe.netns) == (large.probe.dst, large.probe.netns)
            and _size(one) < _size(large)
        ]
        if small:
            yield _report(case, large, max(small, key=_size))
            return


def _size(ping: Attempt) -> int:
    """Return the bytes of a ping with its IP header."""
    return ping.probe.sending.size or 0


def _find_mtu(case: Case, ping: Attempt) -> int:
    """Return the largest MTU that a listing states of the sender's devices."""
    netns = case.node.namespaces.get(ping.probe.netns or HOST)
    links = netns.links.items if netns is not None else ()
    stated = [one.mtu for one in links if one.span is not None and one.mtu and one.name != "lo"]
    return max(stated, default=LARGEST)


def _report(case: Case, large: Attempt, small: Attempt) -> Finding:
    kinds = {one.failure for one in list_failing(case)}
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets of {_size(large)} bytes to {large.probe.dst} are lost silently where "
            f"they may not be fragmented, those of {_size(small)} are answered: the path carries "
            "less than the sender sends."
        ),
        evidence=(large.span, small.span),
        reasoning=("No ICMP error comes back, so the sender does not learn the path's MTU.",),
        breaks=(f"large packets to {large.probe.dst}: answers, uploads, TLS handshakes",),
        prevention="Set the pods' MTU to what the narrowest path carries.",
        certainty=1.0 if FailureKind.HANGS in kinds else LIKELY,
        asks=(
            FollowUp(
                "where the path gets narrow",
                f"tracepath -n {large.probe.dst}; ip route get {large.probe.dst}; ip link",
                "the hop after which no answer comes is the narrow one, or keeps the ICMP error",
            ),
        ),
        marks=(str(_size(large)), str(_size(small))),
    )
