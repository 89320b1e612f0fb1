"""datapath-action-refused: the kernel's Open vSwitch refuses an action that its controller needs.

What it is
    `openvswitch: netlink: Flow actions may not be safe on all matching packets` or an unknown attribute: user space
    asked for a flow that the module of this kernel does not know or allow.

Why it breaks
    OVN's load balancers and NAT need ct with nat actions; an old or in-tree module lacks them, so the flow is never
    installed and its packets are dropped, while plain forwarding works.

How to confirm
    dmesg | grep openvswitch; modinfo openvswitch; ovs-appctl dpctl/show; uname -r; ovs-vsctl --version

How to fix
    Run a kernel whose openvswitch module has what the version of OVS and OVN needs, or install the module of that
    version.

References
    net/openvswitch/flow_netlink.c; Open vSwitch FAQ, Releases
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.KERNEL_MODULE,
    Category.KERNEL_BUG,
)
NAME = "datapath-action-refused"
KINDS = (MessageKind.DATAPATH_ACTION_REFUSED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error")
    meaning = Meaning(
        claim=f"The kernel's openvswitch module refuses flows that user space needs ({error}), so their packets are dropped.",
        breaks="what those flows were for: services and NAT above all",
        cure="run a kernel or module that fits the version of Open vSwitch",
        commands=("uname -r; modinfo openvswitch; ovs-vsctl --version",),
    )
    yield tell(NAME, said, meaning)
