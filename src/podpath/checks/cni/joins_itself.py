"""joins-itself: a machine is to join a cluster at an address that it has itself.

What it is
    `kubeadm join ADDRESS:6443` (or docker swarm join, microk8s join, k3s agent) fails on a machine
    that holds ADDRESS. VirtualBox gives each guest with a NAT card 10.0.2.15, so the address that
    the first machine advertises is every other machine's, too.

Why it breaks
    What a host sends to one of its own addresses stays on it (table local comes first): the new
    machine asks itself, where no API server listens, and the other machine never sees a packet.

How to confirm
    ip -br addr (on both machines); ip route get ADDRESS (says `local`)

How to fix
    kubeadm reset, then kubeadm init --apiserver-advertise-address=ADDRESS with the address of the
    network that connects the machines (a host-only or internal network), and join at that one.

References
    kubeadm-init(8), --apiserver-advertise-address; net/ipv4/fib_rules.c (rule 0, table local) v6.12
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import may_be_of_one_host, read_host
from podpath.node.case import Attempt, Case
from podpath.node.links import InterfaceAddress

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.SOURCE_ADDRESS, Category.OTHER)
NAME = "joins-itself"
LIKELY = 0.8
"""Whether both outputs are of one machine is not stated."""
SHARED = frozenset({"", "localhost", "vagrant", "ubuntu", "debian"})
"""What prompts of many machines name, as those of two guests made from one image do."""
_JOINS = re.compile(r"\b(?:kubeadm|microk8s)\s+join\b|\bdocker\s+swarm\s+join\b|\bk3s\s+agent\b")


def check(case: Case) -> Iterator[Finding]:
    """Report the first failed join at an address that the joining host holds."""
    for attempt in case.attempts:
        if not attempt.is_bad or _JOINS.search(attempt.span.source.command or "") is None:
            continue
        own = _find_own(case, attempt)
        if own is not None:
            yield _report(attempt, own)
            return


def _find_own(case: Case, attempt: Attempt) -> InterfaceAddress | None:
    """Return the listed address of the host at which it is to join."""
    for item in case.node.host.addresses.items:
        shown = item.span is not None and may_be_of_one_host((item.span, attempt.span))
        listed = shown and not item.inferred
        if listed and item.address == attempt.probe.dst and not item.address.is_loopback:
            return item
    return None


def _report(attempt: Attempt, own: InterfaceAddress) -> Finding:
    shown = own.span
    host = read_host(attempt.span)
    sure = shown is not None and host not in SHARED and read_host(shown) == host
    ask = FollowUp(
        "whether the machine that joins has this address itself",
        f"ip -br addr; ip route get {own.address}   # on the machine that joins",
        "the route is `local`: it asks itself",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The machine joins at {own.address}, which is an address of its own ({own.link}).",
        evidence=(attempt.span, *((shown,) if shown is not None else ())),
        reasoning=("What a host sends to its own address never leaves it.",),
        breaks=("the join: no packet of it reaches the other machine",),
        prevention="Advertise the address of the network that connects the machines.",
        certainty=1.0 if sure else LIKELY,
        marks=(str(own.address),),
        asks=() if sure else (ask,),
    )
