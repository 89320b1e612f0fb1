"""Which ports of the host its own overlays need, by the devices that listings show: what the host's
firewall is held against where nobody names a port.

Packets of an overlay come in as UDP to one port on every node, so a firewall that does not accept
it cuts pods on different nodes off, whatever port their connection is to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from podpath.checks.told import INNER, LOSSES, list_failing
from podpath.net import protocols
from podpath.net.complaints import Complaint, EndKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import Link

_PORTS: Mapping[str, int] = MappingProxyType({
    "flannel.1": 8472, "flannel-v6.1": 8472, "flannel-wg": 51820, "cilium_vxlan": 8472,
    "cilium_geneve": 6081, "cilium_wg0": 51871, "vxlan.calico": 4789, "wireguard.cali": 51820,
    "antrea-tun0": 6081,
})  # fmt: skip
"""The UDP ports that plugins give their devices unless somebody chose others."""
_OPEN_VSWITCH = re.compile(r"(?:genev|vxlan)_sys_(?P<port>\d+)$")
"""Devices that Open vSwitch names after their port."""
_FAILURES = LOSSES | {None}
_BETWEEN = INNER | {EndKind.NODE}


class OverlayPort(NamedTuple):
    """A port by which other nodes' pods reach this node's."""

    port: int
    protocol: int
    device: str
    span: Span


def list_overlay_ports(case: Case) -> tuple[OverlayPort, ...]:
    """Return the ports of the overlays' devices that listings or routes of the host show."""
    found: dict[int, OverlayPort] = {}
    for device, port, span in (*_list_linked(case), *_list_routed(case)):
        found.setdefault(port, OverlayPort(port, protocols.UDP, device, span))
    return tuple(found.values())


def list_cut_between_nodes(case: Case) -> tuple[Complaint, ...]:
    """Return the sentences that say that workloads on different nodes do not reach each other."""
    return tuple(
        one
        for one in list_failing(case)
        if one.same_node is False
        and one.failure in _FAILURES
        and {one.source, one.target} <= {*_BETWEEN, None}
        and {one.source, one.target} & INNER
    )


def _list_linked(case: Case) -> Iterator[tuple[str, int, Span]]:
    for link in case.node.host.links.items:
        port = _port_of(link)
        if port is not None and link.span is not None and link.inferred is None:
            yield str(link.name), port, link.span


def _port_of(link: Link) -> int | None:
    """Return the port of an overlay's device, as its listing states it or its owner chooses it."""
    if link.vxlan is not None and link.vxlan.port:
        return link.vxlan.port
    return _port_by_name(str(link.name))


def _port_by_name(device: str) -> int | None:
    found = _OPEN_VSWITCH.match(device)
    return int(found["port"]) if found is not None else _PORTS.get(device)


def _list_routed(case: Case) -> Iterator[tuple[str, int, Span]]:
    for route in case.node.host.routes.items:
        for hop in route.nexthops:
            port = _port_by_name(str(hop.link)) if hop.link is not None else None
            if port is not None and route.span is not None and route.inferred is None:
                yield str(hop.link), port, route.span
