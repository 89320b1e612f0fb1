"""bridge-address-stale: a bridge of pods keeps an address of an older pod range, so the CNI plugin refuses to use it.

What it is
    The CNI plugin `bridge` found its bridge (cni0) with an address that is not the gateway of the pod range it was
    given.

Why it breaks
    The plugin never changes an address that is there: every new pod of the node fails to start with `already has an
    IP address different from`. It happens after a cluster was reset, the network plugin or the pod range changed, or
    a node got another podCIDR, and the old bridge was left behind.

How to confirm
    ip addr show cni0; cat /run/flannel/subnet.env
    kubectl get node NODE -o jsonpath='{.spec.podCIDR}'

How to fix
    ip link delete cni0     # the plugin makes it anew with the next pod Where flannel is used delete flannel.1 as
    well, and restart what still runs in the old range.

References
    ensureAddr in plugins/main/bridge/bridge.go of containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.BRIDGE_CONFIGURATION,
    Category.POD_CIDR,
)
NAME = "bridge-address-stale"
KINDS = (MessageKind.BRIDGE_ADDRESS_DIFFERS,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    bridge = get_value(said, "bridge", default="cni0")
    address = get_value(said, "address", default="another address")
    meaning = Meaning(
        claim=f"The bridge {bridge} keeps an address of an older pod range; the CNI plugin wants {address} and starts no pod.",
        breaks="every new pod of the node: it stays in ContainerCreating",
        cure="delete the stale bridge; the plugin makes it anew",
        commands=(f"ip link delete {bridge}",),
    )
    yield tell(NAME, said, meaning)
