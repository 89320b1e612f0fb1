"""neighbour-table-full: the kernel's neighbour table is full, so that new neighbours cannot be resolved.

What it is
    Each address that a host speaks to on its own links takes an entry of the neighbour table. Above gc_thresh3 entries
    (1024 by default, for all namespaces of the kernel together) the kernel makes no more.

Why it breaks
    A packet to an address without an entry is dropped before it reaches the wire: connects fail with "No buffer space
    available" or "Invalid argument", or time out, at random and more often as the cluster grows. Flat networks, large
    host-gw or cloud subnets, and many pods on one node fill the table.

How to confirm
    dmesg | grep -i 'neighbo.*overflow'
    ip neigh show | wc -l; sysctl net.ipv4.neigh.default.gc_thresh3
    nstat -az | grep -i neigh; lnstat -f arp_cache -c 1     # table_fulls grows

How to fix
    sysctl -w net.ipv4.neigh.default.gc_thresh3=8192 (and gc_thresh2=4096, gc_thresh1=2048; net.ipv6.neigh likewise)
    Keep it in /etc/sysctl.d.

References
    neigh_alloc (net/core/neighbour.c); Documentation/networking/ip-sysctl.rst, neigh/default/gc_thresh3; arp(7)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.NEIGHBOUR_TABLE_FULL,)
NAME = "neighbour-table-full"
RAISED = "sysctl -w net.ipv4.neigh.default.gc_thresh3=8192"


def check(case: Case) -> Iterator[Finding]:
    """Report that the kernel said so."""
    said = [message for message in case.messages if message.kind is MessageKind.NEIGHBOUR_TABLE_FULL]
    if not said:
        return
    times = sum(message.times for message in said)
    yield Finding(
        check=NAME,
        severity="fault",
        claim="The kernel's neighbour table is full: packets to neighbours without an entry are dropped.",
        evidence=tuple(message.span for message in said),
        reasoning=(f"The kernel's log says so {times} times." if times > 1 else "The kernel's log says so.",),
        breaks=("connections to whatever has no neighbour entry yet, at random",),
        repairs=(Repair(title="let the table grow", commands=(RAISED,)),),
        prevention="Set gc_thresh1 to 3 in /etc/sysctl.d by the number of pods and nodes on one link, and alert on its fill.",
    )
