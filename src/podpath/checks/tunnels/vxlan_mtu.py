"""vxlan-mtu: a vxlan device accepts packets that its uplink cannot carry.

What it is
    The MTU of a vxlan device is greater than that of the device below it minus 50 bytes (IPv4:
    outer IP 20, UDP 8, VXLAN 8, inner Ethernet 14), or 70 over IPv6.

Why it breaks
    Small packets pass: ping, the handshake, DNS. A full-sized segment makes an outer packet that is
    too big for the uplink. The outer packet is fragmented, which many clouds drop, or dropped with
    DF set. Transfers hang after the first kilobytes.

How to confirm
    ip -d link show VXLAN; ip link show UPLINK
    ping -M do -s 1422 POD_ON_ANOTHER_NODE  # 1450 bytes in all; the greatest size that passes tells

How to fix
    ip link set VXLAN mtu UPLINK_MTU-50, and the same for the pods' devices (the CNI plugin's
    `mtu`).

References
    vxlan_xmit_one, vxlan_config_validate (drivers/net/vxlan/vxlan_core.c); RFC 7348
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import find_link, states_mtu
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.change import SetLink
from podpath.node.links import Link, Vxlan
from podpath.node.node import HOST, Netns

CATEGORIES = (Category.MTU,)
NAME = "vxlan-mtu"
OVERHEAD = {4: 50, 6: 70}
"""Bytes that the outer headers take, by the family of the outer packet."""


def check(case: Case) -> Iterator[Finding]:
    """Report each vxlan device whose packets do not fit its uplink."""
    host = case.node.host
    for link in host.links.items:
        if link.vxlan is None or not link.up or not states_mtu(link):
            continue
        below = _find_underlay(host, link.vxlan)
        outer = link.vxlan.local or link.vxlan.remote
        room = OVERHEAD[outer.family if outer is not None else 4]
        if below is not None and states_mtu(below) and link.mtu + room > below.mtu:
            yield _report(link, below, room)


def _find_underlay(host: Netns, vxlan: Vxlan) -> Link | None:
    """Return the device below: the one named, or the one that has the local address; None where
    neither tells.
    """
    holders = (
        item.link
        for item in host.addresses.items
        if vxlan.local is not None and item.address == vxlan.local
    )
    name = vxlan.dev or next(holders, None)
    return find_link(host, name) if name is not None else None


def _report(link: Link, below: Link, room: int) -> Finding:
    fitting = below.mtu - room
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{link.name} has an MTU of {link.mtu}, but with {room} bytes of outer headers "
            f"{below.name} carries only {fitting}."
        ),
        evidence=list_spans((link, below)),
        reasoning=(
            (
                f"A full packet becomes {link.mtu + room} bytes on {below.name}, whose MTU is "
                f"{below.mtu}."
            ),
        ),
        breaks=(
            f"full-sized packets over {link.name}: transfers hang, while pings and handshakes work",
        ),
        repairs=(
            Repair(
                title="lower the tunnel's MTU to fit",
                commands=(f"ip link set {link.name} mtu {fitting}",),
                changes=(SetLink(netns=HOST, link=link.name, attributes=(("mtu", str(fitting)),)),),
            ),
        ),
        prevention=f"Set the CNI plugin's MTU to {fitting} so that pods' devices have it, too.",
        marks=(str(link.mtu), str(below.mtu)),
    )
