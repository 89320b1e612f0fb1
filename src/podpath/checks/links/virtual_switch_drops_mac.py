"""virtual-switch-drops-mac: a hypervisor may drop frames of containers whose MACs it did not
assign.

What it is
    The card of a virtual machine (its MAC is one of VMware's, VirtualBox's, Hyper-V's or a cloud's)
    is a bridge port or the parent of a macvlan, so containers use MACs that the hypervisor did not
    assign.

Why it breaks
    A virtual switch knows the MAC of each card. It drops frames from other MACs and does not
    deliver frames to them, unless it is configured otherwise: promiscuous mode and forged transmits
    (VMware), MAC spoofing (Hyper-V), promiscuous mode (VirtualBox), port security off (OpenStack).
    Such containers get no answer to DHCP or ARP.

How to confirm
    tcpdump -eni DEVICE arp or port 67       # requests leave, no answers come
    ip link show DEVICE

How to fix
    Make the virtual switch accept them: allow promiscuous mode, forged transmits and MAC changes on
    the port group; or route or translate instead (ipvlan, a NAT bridge).

References
    VMware: securing virtual switch ports; Hyper-V: MAC address spoofing; OpenStack: port security,
    allowed address pairs
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_inner_bridge
from podpath.node.case import Case

CATEGORIES = (Category.MAC_NOT_ALLOWED,)
NAME = "virtual-switch-drops-mac"


MAKERS = {
    "00:50:56": "VMware", "00:0c:29": "VMware", "00:05:69": "VMware", "08:00:27": "VirtualBox",
    "00:15:5d": "Hyper-V", "fa:16:3e": "OpenStack", "00:1c:42": "Parallels",
}  # fmt: skip
"""The beginnings of MACs that hypervisors give out (IEEE, and OpenStack's default)."""
CHILDREN = ("macvlan", "macvtap")


def check(case: Case) -> Iterator[Finding]:
    """Report a virtual machine's card that is a port of a bridge, or has children with MACs of
    their own.
    """
    links = case.node.host.links.items
    bridges = {str(link.name) for link in links if link.kind == "bridge"}
    parents = {
        str(link.lower) for link in links if link.kind in CHILDREN and link.lower is not None
    }
    for link in links:
        maker = MAKERS.get(str(link.mac or "")[:8].lower())
        bridged = (
            link.master is not None and link.master in bridges and not is_inner_bridge(link.master)
        )
        if (
            maker is None
            or link.span is None
            or link.kind not in {"", "vlan", "bond"}
            or not (bridged or link.name in parents)
        ):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{link.name} is {maker}'s virtual card, and others send through it with MACs that "
                f"{maker} may not let pass."
            ),
            evidence=(link.span,),
            reasoning=(
                (
                    f"Its MAC {link.mac} is one of {maker}'s; a bridge or macvlan sends frames "
                    "with other MACs through it."
                ),
            ),
            breaks=("ARP, DHCP and all other traffic of containers and guests behind it",),
            prevention="Allow promiscuous mode and forged transmits before you use other MACs.",
            certainty=0.4,
            marks=(str(link.mac),),
        )
