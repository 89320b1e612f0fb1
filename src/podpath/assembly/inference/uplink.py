"""The host's way out where no route of it is shown: a default route on the device that leads out,
and an address on it.

A walk to another host, and a connection that the host opens itself, need both. The device is the
one that captures show packets to leave by, else the one whose name or address says so, else one is
made up.
"""

from __future__ import annotations

from podpath.assembly.captures.sightings import Sightings
from podpath.assembly.devices.names import (
    looks_internal,
    looks_like_bridge,
    looks_like_pod_side,
    looks_like_uplink,
)
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.captures import HOST_LENGTH
from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Basis, Inferred
from podpath.node.links import InterfaceAddress, Link
from podpath.node.node import HOST
from podpath.node.routing import Nexthop, Route

STAND_IN = Address(4, 192 << 24 | 2 << 8 | 1)
"""192.0.2.1, of the range that is kept for documents (RFC 5737): it stands for an address that the
evidence does not show.
"""
_UPLINK = IfName("eth0")
_NO_DEVICE = "no output shows the device by which the host reaches other hosts"
_MEANT = "the device by which the host reaches other hosts, which `ip route show default` names"
_MEANT_ADDRESS = "the host's own address, which `ip addr` lists"


def infer_uplink(draft: NodeDraft, sightings: Sightings) -> None:
    """Give the host an uplink with an address and a default route, as far as outputs show none."""
    host = draft.host
    if any(not route.inferred for route in host.routes) or "route" in host.complete:
        return
    link = find_uplink(draft, sightings)
    if link is None:
        guess = Inferred(Basis.GUESSED, _NO_DEVICE)
        link = host.add_link(Link(name=_UPLINK, inferred=guess, stands_for=_MEANT))
    _add_address(draft, link)
    if not any(route.prefix == Prefix(4, 0, 0) for route in host.routes):
        host.routes.append(
            Route(
                prefix=Prefix(4, 0, 0),
                nexthops=(Nexthop(link=link.name),),
                scope="link",
                inferred=Inferred(
                    Basis.GUESSED,
                    "no output shows the host's routes; other hosts are reached by its uplink",
                ),
            )
        )


def _may_lead_out(link: Link) -> bool:
    """Tell whether a device is up, a port of nothing, and looks like none that pods are behind."""
    if link.name == "lo" or not link.up or link.peer is not None:
        return False
    if link.bond_slave_of is not None or link.master is not None:
        return False
    return not (looks_like_pod_side(link) or looks_like_bridge(link) or looks_internal(link))


def find_uplink(draft: NodeDraft, sightings: Sightings) -> Link | None:
    """Return the device that leads to other hosts; None where nothing shows one."""
    host = draft.host
    able = [link for link in host.links.values() if _may_lead_out(link)]
    seen = {
        frame.link
        for frame in sightings.packets
        if frame.netns == HOST and frame.capture not in sightings.elsewhere
    }
    addressed = {
        own.link for own in host.addresses if own.address.family == 4 and own.scope == "global"
    }
    ranked = sorted(
        able,
        key=lambda link: (
            link.name not in addressed,
            not looks_like_uplink(link),
            link.name not in seen,
            bool(link.inferred),
        ),
    )
    return ranked[0] if ranked else None


def _add_address(draft: NodeDraft, link: Link) -> None:
    """Put an address on the uplink where it has none: the one that the node's name spells, else one
    that stands for it.
    """
    host = draft.host
    if "address" in host.complete or any(
        own.link == link.name and own.address.family == 4 for own in host.addresses
    ):
        return
    hinted = next(
        (
            address
            for address in draft.hinted
            if address.family == 4 and draft.owner(address) is None
        ),
        None,
    )
    address = hinted or STAND_IN
    if hinted:
        reason = "the node's name or its pods say that it has it"
    else:
        reason = "it stands for the host's address, which is not shown"
    guess = Inferred(Basis.GUESSED, reason)
    host.addresses.append(
        InterfaceAddress(
            link=link.name,
            address=address,
            length=HOST_LENGTH[4],
            inferred=guess,
            stands_for="" if hinted else _MEANT_ADDRESS,
        )
    )
