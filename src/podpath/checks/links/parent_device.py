"""parent-device: the parent device of a macvlan, ipvlan, VLAN or bridge network is missing or taken.

What it is
    The configuration names a master that does not exist on this node, or one that another network or bridge has
    already.

Why it breaks
    The plugin cannot make the pod's device. Names of cards differ from node to node and change with kernels and
    slots; a device is port of a bridge or parent of macvlan or of ipvlan, not of two of these.

How to confirm
    ip -br link; ip -d link show DEV; docker network ls; kubectl get net-attach-def -A -o yaml | grep master

How to fix
    Name a device that each node has; give the second network a VLAN device or another mode.

References
    plugins/main/macvlan of containernetworking/plugins; Docker, Macvlan network driver
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.MACVLAN_PARENT,
    Category.CNI_CONFIGURATION,
    Category.LINK_DOWN,
    Category.BRIDGE_CONFIGURATION,
)
NAME = "parent-device"
KINDS = (
    MessageKind.MASTER_DEVICE_MISSING,
    MessageKind.PARENT_DEVICE_BUSY,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device", "sort")
    meaning = Meaning(
        claim=f"The network's parent device {device} is missing or in use by another network.",
        breaks="pods and containers of that network",
        cure="name a device that is there and free",
        commands=("ip -br link",),
    )
    yield tell(NAME, said, meaning)
