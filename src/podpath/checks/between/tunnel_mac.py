"""tunnel-mac: a node sends to a tunnel endpoint with a MAC that the endpoint does not have.

What it is
    For each VXLAN device, a daemon writes neighbor and forwarding entries for the other nodes'
    tunnel endpoints. The entry here has a MAC that the other node's device does not have: the
    device was recreated there, or the entry belongs to a node that is gone. Or the device has
    another MAC than flannel announced for its node: udev gave it one after flannel had read it.

Why it breaks
    The packet reaches the other node and is decapsulated. The inner frame is addressed to another
    MAC, so the node drops it silently (OTHERHOST).

How to confirm
    ip neigh show dev DEVICE; bridge fdb show dev DEVICE       # on the sending node
    ip -d link show dev DEVICE                                 # on the receiving node

How to fix
    Write the neighbor and forwarding entries with the MAC that the other node's device has now;
    restart the daemon that maintains them, so it publishes the current MAC.

References
    net/ethernet/eth.c:eth_type_trans v6.12; drivers/net/vxlan/vxlan_core.c:vxlan_rcv v6.12; flannel
    pkg/backend/vxlan
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import see
from podpath.checks.stated import is_typed_on
from podpath.checks.told import LOSSES, fails_between_workloads
from podpath.net.clashes import Clash, ClashKind
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.TUNNEL_ENDPOINT,)
NAME = "tunnel-mac"
POSSIBLE = 0.7
DATA = "flannel.alpha.coreos.com/backend-data"
_ANNOUNCED = re.compile(
    r"VNI\W+(?P<vni>\d+).*?VtepMAC\W+(?P<mac>[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})"
)
ASK = FollowUp(
    "whether what fails goes through this tunnel",
    "tcpdump -eni DEVICE (on the receiving node, while it fails)",
    "frames come in for the MAC that the device does not have: this is the cause",
)
PREVENTION = (
    "Let the daemon keep the tunnel device (flannel does) instead of recreating it by hand or at "
    "every start."
)


def check(case: Case) -> Iterator[Finding]:
    """Report each permanent entry for a tunnel's end of which outputs of two named hosts show two
    MACs; over whole nodes the walk finds it.
    """
    sure = fails_between_workloads(case)
    for clash in case.clashes:
        if clash.kind is ClashKind.TUNNEL_NEIGHBOR:
            yield _report(clash, sure=sure)
    yield from _find_announced(case)


def _find_announced(case: Case) -> Iterator[Finding]:
    """Report flannel's device on a node whose MAC is not the one that its daemon announced."""
    nodes = see(case, "Node")
    for node in nodes:
        data = node.at("metadata", "annotations", DATA) or node.at("metadata", "labels", DATA)
        found = _ANNOUNCED.search(data.text) if data is not None else None
        here = node.name == case.node.name
        if data is None or found is None or not (here or len(nodes) == 1):
            continue
        device = f"flannel.{found['vni']}"
        for link in case.node.host.links.items:
            other = link.mac is not None and str(link.mac) != found["mac"].lower()
            if link.name == device and other and link.span is not None:
                told = _report_announced((node.name, str(link.name)), link, data, found["mac"])
                sure = here or is_typed_on(case, link.span, node.name)
                yield told if sure else replace(told, proves=frozenset())
                return


def _report_announced(place: tuple[str, str], link: Link, data: Tree, announced: str) -> Finding:
    node, device = place
    spans = (link.span, data.line)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{device} on {node} has the MAC {link.mac}, and flannel announced {announced}.",
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            "Other nodes address inner frames to the announced MAC; the device drops them.",
            "udev may give a new device another MAC (MACAddressPolicy=persistent).",
        ),
        breaks=(f"traffic from other nodes to pods of {node}",),
        repairs=(
            Repair(
                title=(
                    "keep udev off the device (MACAddressPolicy=none in a .link file for "
                    "flannel*), and restart flannel there"
                ),
                commands=(),
            ),
        ),
        prevention=PREVENTION,
        certainty=POSSIBLE,
        proves=LOSSES,
        asks=(ASK,),
        marks=(str(link.mac), announced),
    )


def _report(clash: Clash, *, sure: bool) -> Finding:
    (sender, receiver), (used, held) = clash.hosts, clash.values
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{sender} sends to {clash.key}, the tunnel's end on {receiver}, with the MAC {used}; "
            f"{receiver}'s device has {held}."
        ),
        evidence=clash.spans,
        reasoning=("The receiver drops inner frames that are addressed to another MAC.",),
        breaks=(f"traffic between pods of {sender} and {receiver}",),
        prevention=PREVENTION,
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=clash.values,
    )
