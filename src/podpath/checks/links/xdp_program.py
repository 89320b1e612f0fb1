"""xdp-program: an XDP program sees every frame of a device before the kernel does.

What it is
    `ip link` shows `xdp`, `xdpgeneric` or `xdpoffload` and `prog/xdp` with the program's number.

Why it breaks
    What the program drops or redirects reaches neither tcpdump on the device nor netfilter: it is
    lost without a trace there. Several load balancers and firewalls attach one, and some leave it
    behind when they are removed.

How to confirm
    bpftool net show dev DEVICE
    ethtool -S DEVICE | grep -i xdp

How to fix
    Find out which program owns it (bpftool prog show id NUMBER); remove one that is left over with
    ip link set dev DEVICE xdp off.

References
    do_xdp_generic, netif_receive_generic_xdp (net/core/dev.c v6.12); ip-link(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import list_lost
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.BPF,)
NAME = "xdp-program"
OWNERS = frozenset({Technology.CILIUM, Technology.CALICO})
"""Plugins that attach such programs themselves, and have outputs that tell what these drop."""
POSSIBLE = 0.4
"""The program may let everything pass; nothing here shows what it does."""


def check(case: Case) -> Iterator[Finding]:
    """Report each device with such a program, where people say that packets are lost."""
    if not list_lost(case) or case.mentions & OWNERS:
        return
    for namespace in case.node.namespaces.values():
        for link in namespace.links.items:
            if not link.xdp or link.span is None:
                continue
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"A program of XDP on {link.name} may drop frames before tcpdump and netfilter "
                    "see them."
                ),
                evidence=spans_of((link,)),
                reasoning=("XDP runs in the driver, or right after it, ahead of everything else.",),
                breaks=(f"what comes in on {link.name}, if the program drops or redirects it",),
                prevention="Remove such programs with what attached them.",
                certainty=POSSIBLE,
                asks=(
                    FollowUp(
                        f"whose program it is, and what it drops on {link.name}",
                        f"bpftool net show dev {link.name}; bpftool prog show; "
                        f"ethtool -S {link.name} | grep -i xdp",
                        "counters of drops grow, or its owner is no longer installed: it drops "
                        "the frames",
                    ),
                ),
                marks=("xdp",),
            )
