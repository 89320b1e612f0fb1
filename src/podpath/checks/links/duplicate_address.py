"""duplicate-address: one IP address is on two devices, or in two pods.

What it is
    Two devices of one namespace, or two pods of one node, have the same address.

Why it breaks
    The kernel delivers packets to, and answers ARP from, whichever device comes first. Between two
    pods, the route or the neighbor entry decides who gets the packets, and that changes as entries
    expire: connections hang intermittently. A CNI plugin that lost its address store (a full disk,
    a deleted /var/lib/cni) assigns addresses twice.

How to confirm
    ip -br addr | grep ADDRESS
    arping -D -I DEVICE ADDRESS                  # an answer means that another host has it
    ls /var/lib/cni/networks/*/

How to fix
    Remove the address from the device that should not have it: ip addr del ADDRESS dev DEVICE, or
    delete the younger pod.

References
    inet_addr_onlink, arp_process (net/ipv4/devinet.c, arp.c); RFC 5227; the host-local IPAM plugin
    of CNI
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from podpath.checks.captured import CapturedTraffic, Device, device_of
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.links.foreign_arp import find_foreign
from podpath.net.addresses import Address
from podpath.net.provenance import list_spans
from podpath.node.case import ArpOperation, ArpSighting, Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Netns

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.ARP_WRONG_ANSWER)
NAME = "duplicate-address"
SHARED = ("lo", "kube-ipvs0", "nodelocaldns")
"""Devices whose addresses stand for a service and may be elsewhere too."""
POSSIBLE = 0.5
"""Where one of the MACs is seen once: a single frame may be damaged."""
ASK = FollowUp(
    "whether two machines answer",
    "arping -c 3 -I DEVICE ADDRESS",
    "answers from two MACs: both have the address; from one: the other frame was damaged or old",
)
AT_ONCE = 1.0
"""Seconds within which two answers are answers to one question."""
DAMAGED = 3
"""So many MACs that answer once each are those of damaged frames: then others are, too."""


def check(case: Case) -> Iterator[Finding]:
    """Report each IPv4 address that two devices of the host, or two pods, have."""
    owners: dict[tuple[str, Address], list[tuple[Netns, InterfaceAddress]]] = defaultdict(list)
    for namespace in case.node.namespaces.values():
        for item in namespace.addresses.items:
            host_prefix = (
                item.address.is_link_local or item.address.is_loopback or item.link in SHARED
            )
            if (
                item.address.family == 4
                and not host_prefix
                and not item.inferred
                and item.span is not None
            ):
                owners["host" if namespace.name == HOST else "pods", item.address].append(
                    (namespace, item)
                )
    for (where, address), found in owners.items():
        places = {(namespace.name, item.link) for namespace, item in found}
        if len(places) > 1 and (where == "host" or len({name for name, _ in places}) > 1):
            yield _report(address, found)


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each address for which two MACs answer ARP at one device, within a moment or in
    turn: two machines have it.
    """
    _ = traffic
    foreign = {(arp.sender, arp.sender_mac) for arp, _ in find_foreign(case)}
    replies: dict[tuple[Device, Address], list[ArpSighting]] = defaultdict(list)
    for arp in case.arps:
        device = device_of(arp)
        answers = arp.operation is ArpOperation.REPLY or arp.sender == arp.target
        if (
            answers
            and device is not None
            and arp.sender_mac is not None
            and not arp.sender.is_unspecified
            and (arp.sender, arp.sender_mac) not in foreign
        ):
            replies[device, arp.sender].append(arp)
    for (_, address), found in replies.items():
        often = Counter(arp.sender_mac for arp in found)
        if sum(number == 1 for number in often.values()) >= DAMAGED:
            continue
        rivals = next(
            ((one, other) for one, other in pairwise(found) if _are_rivals(one, other, found)), None
        )
        if rivals is not None:
            yield _report_rivals(address, rivals, found)


def _are_rivals(one: ArpSighting, other: ArpSighting, found: list[ArpSighting]) -> bool:
    """Tell two owners from one that moved: they answer within a second of each other, or the first
    one answers again, unless the second is heard once alone. Each sends from its own MAC: an
    answer that comes from the other's does not come from a second machine.
    """
    if one.sender_mac == other.sender_mac:
        return False
    if other.smac == one.sender_mac or one.smac == other.sender_mac:
        return False
    at_once = (
        one.time is not None and other.time is not None and abs(other.time - one.time) < AT_ONCE
    )
    asked = one.operation is other.operation is ArpOperation.REPLY
    again = any(later.sender_mac == one.sender_mac for later in found[found.index(other) + 1 :])
    often = sum(each.sender_mac == other.sender_mac for each in found)
    before = any(each.sender_mac == other.sender_mac for each in found[: found.index(one)])
    return (at_once and (asked or again or before)) or (again and often > 1)


def _report_rivals(
    address: Address, rivals: tuple[ArpSighting, ArpSighting], found: list[ArpSighting]
) -> Finding:
    one, other = rivals
    often = Counter(arp.sender_mac for arp in found)
    replies = one.operation is other.operation is ArpOperation.REPLY
    same = replies and one.target == other.target
    sure = min(often[one.sender_mac], often[other.sender_mac]) > 1 or same
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        claim=f"Two MAC addresses answer for {address}: {one.sender_mac} and {other.sender_mac}.",
        evidence=tuple(dict.fromkeys(list_spans((one, other, *found[:2])))),
        reasoning=(
            "The last answer wins, so senders reach sometimes one of them, sometimes the other.",
            (
                "Either two machines have the address, or something answers for one that has it "
                "(proxy ARP, a virtual router)."
            ),
        ),
        breaks=(f"connections to {address}, intermittently",),
        prevention=(
            "Keep the address store of the CNI plugin (/var/lib/cni/networks) across restarts, and "
            "use one plugin for it."
        ),
        marks=tuple(str(word) for word in (address, one.sender_mac, other.sender_mac)),
    )


def _report(address: Address, found: list[tuple[Netns, InterfaceAddress]]) -> Finding:
    places = " and ".join(f"{item.link} in netns {namespace.name}" for namespace, item in found)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{address} is on {places}.",
        evidence=tuple(item.span for _, item in found if item.span is not None),
        reasoning=(
            (
                "Which of them gets the packets depends on the order of routes and the age of "
                "neighbor entries."
            ),
        ),
        breaks=(f"connections to {address}, intermittently",),
        prevention=(
            "Keep the address store of the CNI plugin (/var/lib/cni/networks) across restarts, and "
            "use one plugin for it."
        ),
        marks=(str(address),),
    )
