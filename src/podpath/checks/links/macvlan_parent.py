"""macvlan-parent: the host and the macvlan or ipvlan containers on one of its cards cannot reach
each other.

What it is
    Containers are attached to one of the host's cards by macvlan or ipvlan (docker network create
    -d macvlan -o parent=eth0, a CNI configuration of type macvlan or ipvlan).

Why it breaks
    The driver does not pass frames between a child and its parent device (macvlan in bridge mode
    passes them among children, and out). Containers and the LAN reach each other; the host and its
    containers do not, which includes host services such as a DNS server or kube-proxy's addresses.
    On a virtual machine, the hypervisor must also allow foreign MACs; on Wi-Fi, macvlan does not
    work at all.

How to confirm
    ip -d link show type macvlan; from another machine: ping CONTAINER
    ip neigh show CONTAINER                 # FAILED on the host

How to fix
    Give the host its own child device: ip link add shim link DEVICE type macvlan mode bridge;
    ip addr add ADDRESS/32 dev shim; ip link set shim up; ip route add CONTAINER/32 dev shim. Or use
    a bridge.

References
    macvlan_queue_xmit (drivers/net/macvlan.c v6.12); Documentation/networking/ipvlan.rst;
    docs.docker.com, macvlan
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import spans_of
from podpath.checks.told import LOSSES, WORKLOADS, is_with_own_host, list_failing
from podpath.net.complaints import Circumstance, Complaint
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case

CATEGORIES = (
    Category.MACVLAN_PARENT,
    Category.MAC_NOT_ALLOWED,
)
NAME = "macvlan-parent"


_OTHERWISE = frozenset({
    FailureKind.NOT_STARTED, FailureKind.SLOW, FailureKind.SOMETIMES, FailureKind.ERROR_ANSWER,
})  # fmt: skip
_OTHERS = frozenset({"remote", "another", "other", "lan", "router", "gateway", "internet"})
"""Words for a machine that is not the container's own host."""
KINDS = ("macvlan", "ipvlan", "macvtap", "ipvtap")


def check(case: Case) -> Iterator[Finding]:
    """Report such a network where the host has no child of its own."""
    said = find_said(case, MessageKind.CHILD_NETWORK)
    links = [
        link
        for namespace in case.node.namespaces.values()
        for link in namespace.links.items
        if link.kind in KINDS
    ]
    addressed = {item.link for item in case.node.host.addresses.items if item.address.family == 4}
    shims = [
        link for link in case.node.host.links.items if link.kind in KINDS and link.name in addressed
    ]
    spans: tuple[Span, ...] = (*list_spans(said), *spans_of(links))
    if not spans or shims or not _may_be_lost(case):
        return
    parent = next(
        (message.values["device"] for message in said if "device" in message.values),
        "the host's card",
    )
    failing = list(list_failing(case))
    inside = any(map(is_with_own_host, failing)) and not _is_beyond(case)
    yield Finding(
        check=NAME,
        severity=Severity.RISK if _is_beyond(case) else Severity.FAULT,
        claim=(
            f"Containers are attached to {parent} by macvlan or ipvlan: the host cannot reach "
            f"them through it, nor can they reach the host."
        ),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("The driver passes no frames between a parent device and its children.",),
        breaks=("connections between the host and these containers; those to the LAN work",),
        prevention="Give the host its own child device, or use a bridge.",
        certainty=0.6,
        proves=LOSSES if inside else frozenset(),
        marks=KINDS[:2],
    )


def _may_be_lost(case: Case) -> bool:
    """Tell whether something that people say fails may be what such a device never passes: what
    does not start sends nothing, and what is slow or comes and goes is passed.
    """
    failing = list(list_failing(case))
    return not failing or any(map(_is_cut_off, failing))


def _is_beyond(case: Case) -> bool:
    """Tell whether people say that what fails is with another machine, and none that it is with the
    host itself: those are reached through the parent.
    """
    failing = list(list_failing(case))
    own = any(Circumstance.WITH_OWN_HOST in one.circumstances for one in failing)
    return not own and any(_is_with_other(one) for one in failing)


def _is_with_other(complaint: Complaint) -> bool:
    """Tell whether a sentence is of a container and a machine that it calls another one."""
    ends = {complaint.source, complaint.target}
    return bool(ends & WORKLOADS) and (
        complaint.same_node is False or not complaint.spoken.isdisjoint(_OTHERS)
    )


def _is_cut_off(complaint: Complaint) -> bool:
    passed = Circumstance.INTERMITTENT in complaint.circumstances
    return complaint.failure not in _OTHERWISE and not passed
