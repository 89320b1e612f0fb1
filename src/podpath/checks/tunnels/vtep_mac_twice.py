"""vtep-mac-twice: two nodes have the same MAC on their tunnel device.

What it is
    The neighbor table or the FDB of a vxlan device (flannel.1, vxlan.calico) has one MAC for two
    nodes.

Why it breaks
    A frame in the tunnel is sent to a node by its VTEP's MAC, and a node accepts only frames with
    its own. With one MAC for two nodes, the FDB holds only one of them: traffic to the other's pods
    goes to the wrong node. Between the two nodes themselves, the receiving driver drops the frame:
    its source is the MAC of the driver's own device, as if the frame had looped back (LOCAL_MAC).
    It happens with cloned machines: systemd derives the MAC from machine-id and the device's name.

How to confirm
    bridge fdb show dev DEVICE; ip neigh show dev DEVICE
    cat /etc/machine-id                     # on each node

How to fix
    Give the clone its own machine-id, delete the device and restart the agent; or a .link file with
    MACAddressPolicy=none for flannel*.

References
    vxlan_find_mac, vxlan_set_mac (drivers/net/vxlan/vxlan_core.c v6.12); systemd.link(5),
    MACAddressPolicy
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_tunnel
from podpath.net.clashes import ClashKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (
    Category.DUPLICATE_ADDRESS,
    Category.TUNNEL_ENDPOINT,
)
NAME = "vtep-mac-twice"
PREVENTION = "Empty /etc/machine-id in images before they are cloned."


ZEROS = "00:00:00:00:00:00"


def check(case: Case) -> Iterator[Finding]:
    """Report each MAC on a tunnel device that stands for two remote ends, or for two nodes'
    addresses.
    """
    yield from _list_clashing(case)
    owners: dict[tuple[str, str], dict[str, Span]] = defaultdict(dict)
    for entry in case.node.host.fdb.items:
        if entry.dst is not None and entry.span is not None and entry.mac != ZEROS:
            owners[entry.link, entry.mac].setdefault(str(entry.dst), entry.span)
    for found in case.node.host.neighbours.items:
        overlay = is_tunnel(found.link) and found.link.startswith(("flannel", "vxlan"))
        if (
            overlay
            and found.mac is not None
            and found.mac != ZEROS
            and found.span is not None
            and found.address.family == 4
        ):
            owners[f"{found.link} (neighbors)", found.mac].setdefault(
                str(found.address), found.span
            )
    for (device, mac), ends in owners.items():
        if len(ends) < 2:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{mac} on {device} stands for {' and '.join(ends)}: two nodes have the same VTEP "
                "MAC."
            ),
            evidence=tuple(ends.values()),
            reasoning=(
                "A tunnel finds the node by the MAC: frames for one of them go to the other.",
            ),
            breaks=("traffic to the pods of one of these nodes",),
            prevention=PREVENTION,
            marks=(mac, *ends),
        )


def _list_clashing(case: Case) -> Iterator[Finding]:
    """Report a MAC that the tunnel devices of two named hosts have in common."""
    for clash in case.clashes:
        if clash.kind is ClashKind.TUNNEL_MAC:
            ends = " and ".join(clash.values)
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The tunnel devices of {' and '.join(clash.hosts)} ({ends}) have one MAC, "
                    f"{clash.key}."
                ),
                evidence=clash.spans,
                reasoning=(
                    "A tunnel finds the node by the MAC: frames for one of them go to the other.",
                ),
                breaks=("traffic to the pods of one of these nodes",),
                prevention="Empty /etc/machine-id in images before they are cloned.",
                marks=(clash.key, *clash.values),
            )
