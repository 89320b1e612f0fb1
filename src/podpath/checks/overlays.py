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
    stated: bool
    """Whether a listing or the device's name says the port; else it is the one that its plugin
    takes unless somebody chose another.
    """


def list_overlay_ports(case: Case) -> tuple[OverlayPort, ...]:
    """Return the ports of the overlays' devices that listings or routes of the host show."""
    found: dict[int, OverlayPort] = {}
    for needed in (*_list_linked(case), *_list_routed(case)):
        if needed.port not in found or needed.stated > found[needed.port].stated:
            found[needed.port] = needed
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


def _list_linked(case: Case) -> Iterator[OverlayPort]:
    for link in case.node.host.links.items:
        if link.span is None or link.inferred is not None:
            continue
        device = str(link.name)
        if link.vxlan is not None and link.vxlan.port:
            yield OverlayPort(link.vxlan.port, protocols.UDP, device, link.span, stated=True)
        else:
            yield from _list_by_name(device, link.span)


def _list_routed(case: Case) -> Iterator[OverlayPort]:
    for route in case.node.host.routes.items:
        for hop in route.nexthops:
            if hop.link is not None and route.span is not None and route.inferred is None:
                yield from _list_by_name(str(hop.link), route.span)


def _list_by_name(device: str, span: Span) -> Iterator[OverlayPort]:
    found = _OPEN_VSWITCH.match(device)
    port = int(found["port"]) if found is not None else _PORTS.get(device)
    if port is not None:
        yield OverlayPort(port, protocols.UDP, device, span, stated=found is not None)
