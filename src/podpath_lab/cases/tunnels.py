"""Tunnels of other kinds in the place of vxlan between two nodes, on kernels that have them.

They are drawn by a chance of their own, so that no other draw of a case changes; which kernel has
which is asked of the kernel, so a seed gives another case on a kernel that has more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random

from podpath.net.addresses import Address, IfName
from podpath.node.links import Geneve, Link, TunnelEnds
from podpath.node.node import HOST
from podpath.node.routing import Nexthop, Route
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import Topology

KINDS = ("ipip", "gre", "geneve")
"""Kinds that the model follows, without a connection of their own."""
SHARE = 0.6
"""How many cases with an overlay have another tunnel than vxlan where the kernel has any."""
_DEVICE, _UNDERLAYS = IfName("flannel.1"), ("172.31.0.10", "172.31.0.20")
_HEADERS = {"ipip": 20, "gre": 24, "geneve": 50}
_KEY = "0.0.0.7"


def draw_tunnel(chance: Random, topology: Topology, kinds: Collection[str]) -> str:
    """Replace the overlay's vxlan devices now and then; return the kind, empty where they stay."""
    held = [kind for kind in KINDS if kind in kinds]
    overlaid = any(link.name == _DEVICE for link in topology.draft.namespaces[HOST].links)
    if not held or not overlaid or chance.random() >= SHARE:
        return ""
    kind = chance.choice(held)
    fixed, key = chance.random() < 0.6, _KEY if chance.random() < 0.3 else ""
    fixed = fixed or kind == "gre"  # else a walk ends there
    for number, name in enumerate((HOST, "node2")):
        netns, remote = topology.draft.namespaces[name], Address.parse(_UNDERLAYS[1 - number])
        own = netns.link(_DEVICE)
        netns.links[netns.links.index(own)] = _make(own, kind, number, fixed=fixed, key=key)
        netns.fdb = [entry for entry in netns.fdb if entry.link != _DEVICE]
        if kind != "geneve":
            _lead(netns, None if fixed else remote)
    return kind


def _make(own: Link, kind: str, number: int, *, fixed: bool, key: str) -> Link:
    """Return the device of that kind; `fixed`: it names its far end, else the route does."""
    local, remote = (Address.parse(_UNDERLAYS[end]) for end in (number, 1 - number))
    made = replace(own, kind=kind, vxlan=None, mtu=min(own.mtu, 1500 - _HEADERS[kind]))
    if kind == "geneve":
        return replace(made, geneve=Geneve(vni=7, port=6081, remote=remote))
    ends = TunnelEnds(local=local, remote=remote if fixed else None)
    if kind == "gre" and key:
        ends = replace(ends, sends_key=key, takes_key=key)
    return replace(made, ends=ends, mac=None, noarp=True)


def _lead(netns: DraftNetns, gateway: Address | None) -> None:
    """Have routes over the tunnel name its far end, or nobody: the device has no MACs."""
    netns.neighbours = [entry for entry in netns.neighbours if entry.link != _DEVICE]
    hop = Nexthop(link=_DEVICE, gateway=gateway, onlink=gateway is not None)
    scope = "link" if gateway is None else "global"
    netns.routes = [
        replace(route, nexthops=(hop,), scope=scope) if _leads_over(route) else route
        for route in netns.routes
    ]


def _leads_over(route: Route) -> bool:
    return any(hop.link == _DEVICE for hop in route.nexthops)
