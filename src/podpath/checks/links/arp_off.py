"""arp-off: a pod's device never asks for a MAC.

What it is
    The NOARP flag is set on one end of a pod's veth pair (`ip link set DEV arp off`), and nobody
    added static entries for its neighbors.

Why it breaks
    On an Ethernet device without ARP, the kernel uses the device's own MAC as the MAC of every
    neighbor. The other end of the pair sees frames for a MAC that it does not have and drops them
    (OTHERHOST). Cilium sets the flag on its own devices, where its programs rewrite the frames;
    this check leaves those alone.

How to confirm
    ip -d link show DEV                                # NOARP among the flags
    ip neigh show dev DEV                              # NOARP entries with the device's own MAC

How to fix
    ip link set DEV arp on; ip neigh flush dev DEV, and find out what set the flag.

References
    arp_constructor (net/ipv4/arp.c); ip-link(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import Attachment, find_attachments
from podpath.node.case import Case
from podpath.node.links import Link
from podpath.node.node import HOST, Netns

CATEGORIES = (Category.ARP_WRONG_ANSWER,)
NAME = "arp-off"
_OF_CILIUM = ("lxc", "cilium")


def check(case: Case) -> Iterator[Finding]:
    """Report each end of a pod's veth pair that sends by a route, has ARP off and no neighbor put
    in by hand.
    """
    if case.node.cilium is not None:
        return
    for attachment in find_attachments(case.node):
        if attachment.netns.inferred or attachment.outer.name.startswith(_OF_CILIUM):
            continue
        for namespace, link in (
            (attachment.netns, attachment.inner),
            (case.node.host, attachment.outer),
        ):
            if (
                link.noarp
                and link.span is not None
                and link.master is None
                and _sends_blindly(namespace, link)
            ):
                yield _report(attachment, namespace, link)


def _sends_blindly(namespace: Netns, link: Link) -> bool:
    """Tell whether a route leads over the device, and every neighbor that is known of it has the
    device's own MAC.
    """
    known = [
        item.mac
        for item in namespace.neighbours.items
        if item.link == link.name and item.mac not in (None, link.mac)
    ]
    routed = any(
        hop.link == link.name for route in namespace.routes.items for hop in route.nexthops
    )
    return routed and not known and link.kind == "veth" and not link.inferred


def _report(attachment: Attachment, namespace: Netns, link: Link) -> Finding:
    pod = attachment.netns.name
    inside = "" if namespace.name == HOST else f"ip netns exec {namespace.name} "
    addresses = [item.address for item in attachment.addresses if item.address.family == 4]
    commands = (
        f"{inside}ip link set {link.name} arp on",
        f"{inside}ip neigh flush dev {link.name}",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"ARP is off on {link.name} in netns {namespace.name} (NOARP): it sends frames to its "
            "own MAC, and the other end drops them."
        ),
        evidence=(link.span,) if link.span is not None else (),
        reasoning=(
            (
                "Without ARP, the kernel uses the device's own MAC as every neighbor's; the other "
                "end drops such frames."
            ),
        ),
        breaks=(f"everything that leaves through {link.name}: the pod {pod} is cut off",),
        repairs=(Repair(title=f"turn ARP on for {link.name}", commands=commands),),
        marks=("NOARP", *map(str, addresses)),
    )
