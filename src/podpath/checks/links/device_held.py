"""device-held: the kernel waits for a device to become free.

What it is
    `unregister_netdevice: waiting for lo to become free. Usage count = 1`: a reference to a device of a namespace
    that is gone was not given back.

Why it breaks
    Until it is, no network namespace can be made or removed: pods and containers hang at start and end.

How to confirm
    dmesg -T | grep 'become free'; uname -r; ps -eo stat,wchan:30,cmd | grep ' D'

How to fix
    Reboot, and run a kernel with the fix (the causes are bugs of one version each: IPv6 routes, TCP metrics, SCTP,
    hairpin bridges).

References
    net/core/dev.c, netdev_wait_allrefs_any
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.KERNEL_BUG,)
NAME = "device-held"
KINDS = (MessageKind.DEVICE_HELD,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device")
    meaning = Meaning(
        claim=f"The kernel waits without end for the device {device} to become free: a bug that blocks all network namespaces.",
        breaks="start and end of every pod on the node",
        cure="reboot, into a kernel with the fix",
        commands=("uname -r",),
    )
    yield tell(NAME, said, meaning)
