"""veth-without-bridge: the host's end of a pod's veth pair is in no bridge, while those of other
pods are.

What it is
    All but a few of the host's vethXXX devices have a master.

Why it breaks
    Something removed the port from the bridge: systemd-networkd or NetworkManager managing the
    device by a pattern (`Name=*`), a restart of the container engine, a bridge that was deleted and
    recreated. The pod behind it reaches nothing, not even its gateway.

How to confirm
    bridge link; ip -br link show type veth
    networkctl list; nmcli device

How to fix
    As a test, run ip link set VETH master BRIDGE, or restart the container. Make the network
    manager leave such devices alone (Unmanaged=yes for veth* in a .network file, unmanaged-devices
    in NetworkManager).

References
    systemd.network(5), Unmanaged; NetworkManager.conf(5), unmanaged-devices
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import Attachment, find_attachments
from podpath.net.provenance import Known, list_spans
from podpath.node.case import Case
from podpath.node.links import Link
from podpath.node.node import HOST, Netns

CATEGORIES = (
    Category.BRIDGE_CONFIGURATION,
    Category.NETWORK_MANAGER,
)
NAME = "veth-without-bridge"


def check(case: Case) -> Iterator[Finding]:
    """Report each veth without master, address and route beside at least one on a bridge."""
    host = case.node.host
    veths = [
        link
        for link in host.links.items
        if link.name.startswith("veth") and link.span is not None and not link.inferred
    ]
    bridged = [link for link in veths if link.master is not None and link.master != "ovs-system"]
    if not bridged:
        return
    used = _list_used(host)
    pods: dict[str, Attachment] = {}
    for attachment in find_attachments(case.node):
        if not attachment.netns.inferred:
            pods[attachment.outer.name] = attachment
    for link in veths:
        enslaved = link.master is not None or link.bond_slave_of is not None
        if not enslaved and link.name not in used and not _is_paired_here(link):
            yield _report(link, bridged[0], pods.get(link.name))


def _list_used(host: Netns) -> set[str]:
    """Return the devices that have an address or a route of IPv4."""
    used = {str(item.link) for item in host.addresses.items if item.address.family == 4}
    for route in host.routes.items:
        if route.prefix.family == 4:
            used.update(str(hop.link) for hop in route.nexthops)
    return used


def _report(link: Link, bridged: Link, pod: Attachment | None) -> Finding:
    addresses = [] if pod is None else [str(item.address) for item in pod.addresses]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(f"{link.name} is in no bridge, while {bridged.name} is a port of {bridged.master}."),
        evidence=list_spans((link, bridged)),
        reasoning=("It also has no address and no route: the container behind it is cut off.",),
        breaks=(f"all traffic of the container behind {link.name}",),
        prevention="Keep systemd-networkd and NetworkManager from managing veth devices.",
        certainty=1.0 if addresses else 0.8,
        marks=(link.name, *addresses),
    )


def _is_paired_here(link: Link) -> bool:
    """Tell whether both ends of the pair are the host's: no container is behind it."""
    return isinstance(link.peer, Known) and link.peer.value.netns == HOST
