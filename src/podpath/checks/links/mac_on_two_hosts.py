"""mac-on-two-hosts: two hosts have the same MAC on their cards.

What it is
    `ip link`, `ip addr` or ifconfig of two hosts shows the same MAC on a card of each, with
    different addresses: machines that were cloned with their configuration, or whose hypervisor was
    told to keep the MAC.

Why it breaks
    A switch learns a MAC at one port at a time: frames for one host go to the other until it sends
    again. A DHCP server gives both the same lease. Connections to either host hang, break off, or
    end up on the other one.

How to confirm
    ip link show dev DEVICE                 # on each host
    bridge fdb show | grep MAC              # on the hypervisor: the port changes
    arping -D -I DEVICE ADDRESS

How to fix
    Give one of them its own MAC: in the hypervisor (a new network card for the clone), or with `ip
    link set dev DEVICE address MAC` and in its configuration.

References
    IEEE 802.1D, the learning process; ip-link(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.net.clashes import Clash, ClashKind
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "mac-on-two-hosts"


def check(case: Case) -> Iterator[Finding]:
    """Report each MAC that cards of two named hosts have in common."""
    failing = any(True for _ in list_failing(case))
    for clash in case.clashes:
        if clash.kind is ClashKind.MAC:
            yield _report(clash, sure=failing and clash.near)


def _report(clash: Clash, *, sure: bool) -> Finding:
    ask = FollowUp(
        "whether both hosts are on the same layer 2 network",
        f"bridge fdb show | grep -i {clash.key} (on the hypervisor or switch)",
        "the port changes: each host takes the other's frames",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The cards of {' and '.join(clash.hosts)} ({' and '.join(clash.values)}) have the "
            f"same MAC, {clash.key}."
        ),
        evidence=clash.spans,
        reasoning=("A switch sends frames for this MAC to only one of them at a time.",),
        breaks=("connections to either of these hosts",),
        prevention="Let the hypervisor generate a new MAC for each clone.",
        certainty=1.0 if sure else 0.7,
        marks=(clash.key,),
        asks=() if sure else (ask,),
    )
