"""duplicate-address: one IP address is on two devices, or in two pods.

What it is
    Two devices of one namespace, or two pods of one node, have the same address.

Why it breaks
    The kernel delivers to, and answers ARP from, whichever comes first. Between two pods, the route or the neighbour
    entry decides who gets the packets, and it changes as entries expire: connections hang now and then. A CNI plugin
    whose address store was lost (a full disk, a removed /var/lib/cni) hands out addresses twice.

How to confirm
    ip -br addr | grep ADDRESS
    arping -D -I DEVICE ADDRESS                  # an answer means that somebody else has it
    ls /var/lib/cni/networks/*/

How to fix
    Take the address from the one that should not have it: ip addr del ADDRESS dev DEVICE, or delete the younger pod.

References
    inet_addr_onlink, arp_process (net/ipv4/devinet.c, arp.c); RFC 5227; the host-local IPAM plugin of CNI
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from podpath.checks.finding import Finding
from podpath.net.addresses import Address
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Netns

NAME = "duplicate-address"
SHARED = ("lo", "kube-ipvs0", "nodelocaldns")
"""Devices whose addresses stand for a service and may be elsewhere too."""


def check(case: Case) -> Iterator[Finding]:
    """Report each IPv4 address that two devices of the host, or two pods, have."""
    owners: dict[tuple[str, Address], list[tuple[Netns, InterfaceAddress]]] = defaultdict(list)
    for namespace in case.node.namespaces.values():
        for item in namespace.addresses.items:
            host_prefix = item.address.is_link_local or item.address.is_loopback or item.link in SHARED
            if item.address.family == 4 and not host_prefix and not item.inferred and item.span is not None:
                owners["host" if namespace.name == HOST else "pods", item.address].append((namespace, item))
    for (where, address), found in owners.items():
        places = {(namespace.name, item.link) for namespace, item in found}
        if len(places) > 1 and (where == "host" or len({name for name, _ in places}) > 1):
            yield _report(address, found)


def _report(address: Address, found: list[tuple[Netns, InterfaceAddress]]) -> Finding:
    places = " and ".join(f"{item.link} in netns {namespace.name}" for namespace, item in found)
    return Finding(
        check=NAME,
        severity="fault",
        claim=f"{address} is on {places}.",
        evidence=tuple(item.span for _, item in found if item.span is not None),
        reasoning=("Which of them gets the packets depends on the order of routes and the age of neighbour entries.",),
        breaks=(f"connections to {address}, now and then",),
        prevention="Keep the address store of the CNI plugin (/var/lib/cni/networks) across restarts, and use one plugin for it.",
        marks=(str(address),),
    )
