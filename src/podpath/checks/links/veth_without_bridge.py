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

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import is_inner_bridge
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
POSSIBLE = 0.8
"""Whose host end it is stands in no output."""
_SILENT = frozenset({"FAILED", "INCOMPLETE"})
_PORTS = re.compile(
    r"(?:sudo )?bridge(?: -\S+)* l(?:i|in|ink)?(?: s(?:h|ho|how)?| l(?:s|i|is|ist)?)?"
)
"""What lists the ports of all bridges."""
_WHOLE = re.compile(r"\bmtu \d")
"""What `ip -br link` does not print, nor whose port a device is."""


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
        yield from _check_alone(case, veths)
        return
    used = _list_used(host)
    pods: dict[str, Attachment] = {}
    for attachment in find_attachments(case.node):
        if not attachment.netns.inferred:
            pods[attachment.outer.name] = attachment
    alone = [
        link
        for link in veths
        if link.master is None
        and link.bond_slave_of is None
        and link.name not in used
        and not _is_paired_here(link)
    ]
    for link in alone:
        found = _report(link, bridged[0], pods.get(link.name))
        yield _settle(case, found, bridged[0]) if len(alone) == 1 else found


def _settle(case: Case, found: Finding, bridged: Link) -> Finding:
    """Make it certain where all ports of bridges are listed and read, and a container finds its
    bridge no more: the one device that is no port is its own.
    """
    listed = any(_PORTS.fullmatch(command) for command in case.printed)
    others = [gap.span for gap in case.gaps] + [message.span for message in case.messages]
    listed &= not any(_PORTS.fullmatch(span.source.command or "") for span in others)
    host = case.node.host
    own = {item.address for item in host.addresses.items if item.link == bridged.master}
    lost = [
        neighbour
        for name, netns in case.node.namespaces.items()
        for neighbour in (netns.neighbours.items if name != HOST else ())
        if neighbour.state in _SILENT and neighbour.address in own
    ]
    if not listed or not lost:
        return found
    why = f"A container gets no answer from {lost[0].address}, the address of {bridged.master}."
    return replace(
        found,
        certainty=1.0,
        evidence=tuple(dict.fromkeys((*found.evidence, *list_spans(lost[:1])))),
        reasoning=(*found.reasoning, why),
        marks=(*found.marks, str(lost[0].address)),
    )


def _check_alone(case: Case, veths: Sequence[Link]) -> Iterator[Finding]:
    """Report the one veth that is shown, in no bridge, where a bridge finds one of its neighbors no
    more.
    """
    host = case.node.host
    lost = [
        one
        for one in host.neighbours.items
        if one.state in _SILENT and is_inner_bridge(one.link) and one.span is not None
    ]
    if len(veths) != 1 or not lost or veths[0].master is not None:
        return
    link, neighbour = veths[0], lost[0]
    if link.span is None or _WHOLE.search(link.span.text) is None:
        return
    if link.name in _list_used(host) or _is_paired_here(link):
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{link.name} is in no bridge, while {neighbour.link} gets no answer from "
            f"{neighbour.address}."
        ),
        evidence=list_spans((link, neighbour)),
        reasoning=("`ip link` names a device's bridge (master); it names none here.",),
        breaks=(f"all traffic of the container behind {link.name}",),
        prevention="Keep systemd-networkd and NetworkManager from managing veth devices.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"whether {link.name} is the host's end of the container with {neighbour.address}",
                f"ip -d link show {link.name}; bridge link; bridge fdb show br {neighbour.link}",
                "it is: put it back into its bridge, or recreate the container",
            ),
        ),
        marks=(link.name, str(neighbour.address)),
    )


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
