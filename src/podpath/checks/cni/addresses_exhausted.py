"""addresses-exhausted: there is no address left to give.

What it is
    An IPAM plugin, a cloud's subnet, a network's pool or a DHCP server has no free address.

Why it breaks
    The range is too small, or addresses of pods that are gone were never given back: host-local keeps a file for each
    in /var/lib/cni/networks, Calico and Whereabouts keep allocations, a cloud's subnet is full. New pods get no
    network.

How to confirm
    ls /var/lib/cni/networks/* | wc -l; crictl pods -q | wc -l
    calicoctl ipam check; kubectl get ippools.whereabouts.cni.cncf.io -A; aws ec2 describe-subnets
      (AvailableIpAddressCount)

How to fix
    Remove what nobody uses any more (the files of host-local whose container is gone), or give a larger range or a
    further subnet.

References
    plugins/ipam/host-local of containernetworking/plugins; Amazon VPC CNI, docs/troubleshooting.md; calicoctl ipam
    check
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.IPAM,)
NAME = "addresses-exhausted"
KINDS = (MessageKind.ADDRESSES_EXHAUSTED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    pool = get_value(said, "range")
    pool = f" ({pool})" if pool else ""
    meaning = Meaning(
        claim=f"There is no address left to give{pool}: the range is used up, or stale allocations hold it.",
        breaks="every new pod that needs an address of the range",
        cure="free stale allocations, or enlarge the range",
        commands=("ls /var/lib/cni/networks/*",),
    )
    yield tell(NAME, said, meaning)
