"""tunnel-end: a tunnel sends to an address that the other node does not have.

What it is
    The forwarding entry of a VXLAN device says at which underlay address a remote tunnel endpoint
    is reached. The entry here points to a different address: the node was renumbered, or it has
    several addresses and its daemon announced the wrong one.

Why it breaks
    The outer packet goes to a host that is not a node, or to the wrong node; the pods behind the
    tunnel never see it.

How to confirm
    bridge fdb show dev DEVICE                                 # on the sending node: `dst`
    kubectl get node NAME -o jsonpath='{.status.addresses} {.metadata.annotations}'

How to fix
    Point the entry at the node's address, and make the daemon announce the right one (flannel's
    --iface or public-ip annotation, Calico's IP_AUTODETECTION_METHOD).

References
    drivers/net/vxlan/vxlan_core.c:vxlan_find_mac v6.12; flannel pkg/backend/vxlan
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.node_ranges import addresses_of
from podpath.checks.objects import ObjectSightings, see
from podpath.net.addresses import Address, Mac, read_address
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import FdbEntry

CATEGORIES = (Category.TUNNEL_ENDPOINT,)
NAME = "tunnel-end"
"""Seen by walks over several nodes, and where flannel says which node has which MAC."""
_MAC = re.compile(r"VtepMAC\W+(?P<mac>[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})")
_DATA, _PUBLIC = "flannel.alpha.coreos.com/backend-data", "flannel.alpha.coreos.com/public-ip"
PREVENTION = "Configure which device or address the plugin announces where nodes have several."


class _StatedEnd(NamedTuple):
    """What a node's daemon wrote of its end of the tunnel."""

    node: str
    mac: Mac
    address: Address
    others: frozenset[Address]
    """All addresses of that node."""
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report forwarding entries that lead to another address than the one that the MAC's node
    announces.
    """
    stated = {end.mac: end for node in see(case, "Node") for end in _ends(node)}
    for entry in case.node.host.fdb.items if stated else ():
        end = stated.get(entry.mac)
        if (
            end is not None
            and entry.dst is not None
            and entry.span is not None
            and end.node != case.node.name
            and entry.dst not in end.others
        ):
            yield _report(entry, entry.dst, end, entry.span)


def _ends(node: ObjectSightings) -> Iterator[_StatedEnd]:
    """Yield the end that flannel announces for a node by its annotations."""
    data = node.at("metadata", "annotations", _DATA)
    found = _MAC.search(data.text) if data is not None else None
    public = read_address(node.text_at("metadata", "annotations", _PUBLIC))
    if data is not None and found is not None and public is not None:
        mac = Mac(found["mac"].lower())
        yield _StatedEnd(node.name, mac, public, addresses_of(node), data.line)


def _report(entry: FdbEntry, remote: Address, end: _StatedEnd, span: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The tunnel {entry.link} sends frames for {entry.mac}, the endpoint of {end.node}, to "
            f"{remote}, but {end.node} announces {end.address}."
        ),
        evidence=(span, end.span),
        reasoning=("The outer packet goes to an address that is not that node's.",),
        breaks=(f"connections from this node to pods of {end.node}",),
        repairs=(
            Repair(
                title=f"send it to {end.address}",
                commands=(f"bridge fdb replace {entry.mac} dev {entry.link} dst {end.address}",),
            ),
        ),
        prevention=PREVENTION,
        marks=(str(remote),),
    )
