"""networks-overlap: the networks of two devices of the host overlap.

What it is
    A bridge for containers or guests (docker0, br-..., cni0, virbr0, lxdbr0) has a network that
    overlaps with that of another device: the LAN, a VPN, another bridge.

Why it breaks
    For addresses in both, the more specific route wins, or the first one: one of the two networks
    cannot be reached from this host and its containers. This is typical of home LANs and VPNs in
    172.17.0.0/16, 192.168.0.0/16 or 10.0.0.0/8.

How to confirm
    ip route show; ip -br addr
    ip route get ADDRESS           # which device is taken?

How to fix
    Give the containers another range: `bip` and `default-address-pools` in /etc/docker/daemon.json,
    or the subnet of the network.

References
    fib_table_lookup (net/ipv4/fib_trie.c v6.12); docs.docker.com, daemon.json
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.ground import Unsettling
from podpath.checks.stated import is_inner_bridge, is_tunnel
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import Netns

CATEGORIES = (
    Category.OVERLAPPING_RANGES,
    Category.WRONG_ROUTE,
)
NAME = "networks-overlap"


def check(case: Case) -> Iterator[Finding]:
    """Report each pair of a container bridge and another device whose networks overlap."""
    for one, other in find_pairs(case.node.host):
        if one.span is None or other.span is None:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The networks of {one.link} ({one.prefix}) and {other.link} ({other.prefix}) "
                "overlap."
            ),
            evidence=(one.span, other.span),
            reasoning=("The host looks for an address in both on only one of them.",),
            breaks=(f"traffic to addresses of {one.prefix} that are behind the other device",),
            prevention="Plan the ranges of containers, nodes and VPNs together.",
            certainty=1.0 if one.prefix == other.prefix else 0.7,
            marks=(str(one.prefix), str(other.prefix)),
            doubted_by=frozenset({Unsettling.OUTSIDE_RANGE}),
        )


def find_pairs(host: Netns) -> Iterator[tuple[InterfaceAddress, InterfaceAddress]]:
    """Yield pairs of addresses on different devices in overlapping networks, a container bridge's
    first.
    """
    wide = [
        item
        for item in host.addresses.items
        if item.address.family == 4
        and item.length < 31
        and not item.inferred
        and not item.address.is_loopback
        and not item.address.is_link_local
    ]
    inner = [item for item in wide if is_inner_bridge(item.link)]
    outer = [item for item in wide if not is_inner_bridge(item.link) and not _is_overlay(item.link)]
    pairs = [*combinations(inner, 2), *((one, other) for one in inner for other in outer)]
    for one, other in pairs:
        apart = one.link != other.link
        if apart and (one.prefix.covers(other.prefix) or other.prefix.covers(one.prefix)):
            yield one, other


def _is_overlay(name: str) -> bool:
    """Tell whether a device is a plugin's own tunnel, whose network holds those of the bridges on
    purpose.
    """
    return (
        is_tunnel(name)
        and not name.startswith(("tun", "wg", "ppp", "tap", "tailscale", "nordlynx"))
    ) or name.startswith("tunl")
