"""tunnel-end: a tunnel sends to an address that the other node does not have.

What it is
    The forwarding entry of a VXLAN device says at which underlay address a remote tunnel endpoint
    is reached. The entry here points to a different address: the node was renumbered, or it has
    several addresses and its daemon announced the wrong one. A list of all nodes shows it, too: the
    other entries are addresses of nodes, this one is of none, and one node has no entry.

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
from itertools import chain
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.node_ranges import addresses_of
from podpath.checks.objects import ObjectSightings, is_of_all, see
from podpath.checks.stated import is_typed_on
from podpath.checks.told import find_told, list_failing, list_failing_addresses
from podpath.net.addresses import Address, Mac, read_address
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import FdbEntry
from podpath.node.routing import Route

CATEGORIES = (Category.TUNNEL_ENDPOINT,)
NAME = "tunnel-end"
"""Seen by walks over several nodes, and where flannel says which node has which MAC."""
_MAC = re.compile(r"VtepMAC\W+(?P<mac>[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})")
_DATA, _PUBLIC = "flannel.alpha.coreos.com/backend-data", "flannel.alpha.coreos.com/public-ip"
LIKELY = 0.8
"""A node may have addresses that the API does not list."""
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
    if not stated:
        yield from _find_of_no_node(case)


def _find_of_no_node(case: Case) -> Iterator[Finding]:
    """Report the one entry to an address that no node has, where all others are nodes' addresses,
    and just the node that fails has no entry.
    """
    nodes = {node.name: node for node in see(case, "Node") if _is_of_all(node)}
    held = {name: addresses_of(node) for name, node in nodes.items()}
    every = frozenset(chain.from_iterable(held.values()))
    links: dict[str, list[FdbEntry]] = {}
    for one in case.node.host.fdb.items if all(held.values()) else ():
        if one.dst is not None and one.span is not None:
            links.setdefault(str(one.link), []).append(one)
    for own in links.values():
        used = {one.dst for one in own}
        odd = [one for one in own if one.dst not in every]
        span = odd[0].span if len(odd) == 1 and len(own) > 1 else None
        if span is None:
            continue
        there = [
            name
            for name, each in held.items()
            if not each & used and not is_typed_on(case, span, name)
        ]
        if len(there) == 1 and _fails_at(case, there[0], odd[0]):
            yield _report_of_no_node(case, odd[0], nodes[there[0]], span)


def _is_of_all(node: ObjectSightings) -> bool:
    return any(is_of_all(one.tree.line) for one in node.sights)


def _fails_at(case: Case, node: str, entry: FdbEntry) -> bool:
    """Tell whether what fails is named by the node, or is an address behind the entry."""
    if any(node.casefold() in one.words | one.spoken for one in list_failing(case)):
        return True
    host = case.node.host
    ends = {one.address for one in host.neighbours.items if one.mac == entry.mac}
    routes = [one for one in host.routes.items if _leads_to(one, ends)]
    failing = list_failing_addresses(case)
    return any(one.prefix.covers(address) for one in routes for address in failing)


def _leads_to(route: Route, ends: set[Address]) -> bool:
    return any(hop.gateway in ends for hop in route.nexthops)


def _report_of_no_node(case: Case, entry: FdbEntry, node: ObjectSightings, span: Span) -> Finding:
    told = find_told(case, Circumstance.RENUMBERED)
    address = min(map(str, addresses_of(node)))
    ask = FollowUp(
        f"whether {node.name} has the address {entry.dst}",
        f"ip -br address (on {node.name})",
        "it has not: the entry is of the time before the node was renumbered",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The tunnel {entry.link} sends frames for {entry.mac} to {entry.dst}, which no node "
            f"has; {node.name}, to which no entry leads, has {address}."
        ),
        evidence=(span, node.span, *((told,) if told is not None else ())),
        reasoning=("The other entries of the tunnel are addresses of the nodes.",),
        breaks=(f"connections from this node to pods of {node.name}",),
        repairs=(_send_to(entry, address),),
        prevention=PREVENTION,
        certainty=LIKELY if told is None else 1.0,
        asks=(ask,) if told is None else (),
        marks=(str(entry.dst), address),
    )


def _send_to(entry: FdbEntry, address: str) -> Repair:
    command = f"bridge fdb replace {entry.mac} dev {entry.link} dst {address}"
    return Repair(title=f"send it to {address}", commands=(command,))


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
        repairs=(_send_to(entry, str(end.address)),),
        prevention=PREVENTION,
        marks=(str(remote),),
    )
