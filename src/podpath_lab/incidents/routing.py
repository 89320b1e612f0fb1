"""Incidents of routing, source validation and neighbors."""

from __future__ import annotations

import json

from podpath.net.addresses import MaskedMark
from podpath.node.node import HOST
from podpath.node.routing import PolicyRule
from podpath_lab.draft import Draft
from podpath_lab.incidents.incident import Incident, on_host, restore, within
from podpath_lab.topologies import bridged_pods, routed_pods, two_uplinks

_POD_TO_WORLD = "tcp 10.1.0.2 > 198.51.100.1:80 from pod1"


def _routed() -> Draft:
    return routed_pods().draft


def _bridged() -> Draft:
    return bridged_pods().draft


def _tunnel() -> Draft:
    """Make a node whose pod addresses are routed to one device and arrive by another, as Cilium
    does in tunnel mode.
    """
    draft = routed_pods(gateways=False).draft
    host = draft.namespaces[HOST]
    draft.connect(HOST, "cilium_host", HOST, "cilium_net", 40)
    host.routes = [
        route
        for route in host.routes
        if route.nexthops and not str(route.nexthops[0].link).startswith("lxc")
    ]
    host.add_address("cilium_host", "10.1.0.1/32")
    host.add_route("10.1.0.0/24", "cilium_host", scope="link")
    host.rules.append(PolicyRule(family=4, priority=100, mark=MaskedMark(0x200, 0xF00), table=100))
    host.add_route("10.1.0.2", "lxc1", table=100, scope="link")
    host.add_route("10.1.0.3", "lxc2", table=100, scope="link")
    return draft


def _two_uplinks() -> Draft:
    """Make a node with two uplinks and strict source validation: each uplink's own address answers
    by its own table.
    """
    draft = two_uplinks().draft
    host = draft.namespaces[HOST]
    host.sysctls["net.ipv4.conf.all.rp_filter"] = "1"
    return draft


_NO_POLICIES = {
    "node/cilium-config.json": json.dumps(
        {
            "kind": "ConfigMap",
            "metadata": {"name": "cilium-config"},
            "data": {"enable-policy": "never"},
        }
    )
}
"""What makes a node with Cilium's devices one whose way is known whole."""
_KEEP_POD = on_host(
    *("ip", "neigh", "replace", "10.1.0.2", "lladdr", "02:00:00:00:01:00"),
    *("dev", "lxc1", "nud", "permanent"),
)
"""Keeps the host from asking for the pod: a request of the host's teaches the pod the gateway's
MAC, and for some seconds all works again.
"""

INCIDENTS: tuple[Incident, ...] = (
    Incident(
        name="blackhole-route",
        summary="A leftover blackhole route is more specific than the default route.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("no-route",),
        broken_by=(on_host("ip", "route", "add", "blackhole", "198.51.100.0/24"),),
        mended_by=(on_host("ip", "route", "del", "blackhole", "198.51.100.0/24"),),
    ),
    Incident(
        name="pod-route-missing",
        summary="The host's route to a pod is gone, so the answer leaves by the default route.",
        build=_routed,
        probe="tcp 198.51.100.1 > 10.1.0.2:80 from world",
        checks=("no-route", "rp-filter"),
        broken_by=(on_host("ip", "route", "del", "10.1.0.2", "dev", "lxc1"),),
        mended_by=(on_host("ip", "route", "add", "10.1.0.2", "dev", "lxc1", "scope", "link"),),
    ),
    Incident(
        name="policy-rule-mistake",
        summary=(
            "A policy rule sends the pods' packets to the second uplink, whose peer has no way "
            "back."
        ),
        build=_two_uplinks,
        probe=_POD_TO_WORLD,
        checks=("rp-filter", "no-route"),
        prepared_by=(within("world2", "ip", "route", "del", "10.1.0.0/16"),),
        broken_by=(
            on_host("ip", "rule", "add", "priority", "50", "from", "10.1.0.0/24", "lookup", "100"),
        ),
        mended_by=(on_host("ip", "rule", "del", "priority", "50"),),
    ),
    Incident(
        name="rp-filter-reset",
        summary=(
            "A package upgrade set rp_filter back to 1, and the pod's packets come in by the wrong "
            "device."
        ),
        build=_tunnel,
        probe=_POD_TO_WORLD,
        checks=("rp-filter",),
        prepared_by=(
            restore(
                "*mangle\n-A PREROUTING ! -i lxc+ -d 10.1.0.0/24 -j MARK --set-mark 0x200\n"
                "-A OUTPUT -d 10.1.0.0/24 -j MARK --set-mark 0x200\nCOMMIT\n"
            ),
        ),
        broken_by=(on_host("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=1"),),
        mended_by=(on_host("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0"),),
        files=_NO_POLICIES,
    ),
    Incident(
        name="unnumbered-loose-rp-filter",
        summary="Loose source validation is strict on a device that has no address.",
        build=_tunnel,
        probe=_POD_TO_WORLD,
        checks=("rp-filter",),
        prepared_by=(
            restore(
                "*mangle\n-A PREROUTING ! -i lxc+ -d 10.1.0.0/24 -j MARK --set-mark 0x200\n"
                "-A OUTPUT -d 10.1.0.0/24 -j MARK --set-mark 0x200\nCOMMIT\n"
            ),
        ),
        broken_by=(on_host("sysctl", "-qw", "net.ipv4.conf.lxc1.rp_filter=2"),),
        mended_by=(on_host("sysctl", "-qw", "net.ipv4.conf.lxc1.rp_filter=0"),),
        files=_NO_POLICIES,
    ),
    Incident(
        name="accept-local",
        summary="A local route for the peer's address makes the host refuse it as its own.",
        build=_routed,
        probe="tcp 198.51.100.1 > 10.1.0.2:80 from world",
        checks=("source-refused",),
        broken_by=(on_host("ip", "route", "add", "local", "198.51.100.1", "dev", "lo"),),
        mended_by=(on_host("ip", "route", "del", "local", "198.51.100.1", "dev", "lo"),),
    ),
    Incident(
        name="arp-ignore",
        summary="arp_ignore keeps the gateway silent for an address that another device holds.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("neighbour-failed", "arp-ignore"),
        prepared_by=(
            on_host("ip", "addr", "del", "10.1.1.1/32", "dev", "lxc1"),
            on_host("ip", "addr", "add", "10.1.1.1/32", "dev", "lo"),
            on_host("ip", "route", "replace", "10.1.0.2", "dev", "lxc1", "scope", "link"),
            _KEEP_POD,
        ),
        broken_by=(
            on_host("sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=1"),
            within("pod1", "ip", "neigh", "flush", "all"),
        ),
        mended_by=(
            on_host("sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=0"),
            within("pod1", "ip", "neigh", "flush", "all"),
        ),
    ),
    Incident(
        name="duplicate-address",
        summary="A second pod took the first one's address, and the host knows the wrong MAC.",
        build=_bridged,
        probe="tcp 172.31.0.10 > 10.1.0.3:8080 from host",
        checks=("duplicate-address",),
        broken_by=(
            within("pod1", "ip", "addr", "add", "10.1.0.3/24", "dev", "eth0"),
            within("pod1", "iptables", "-A", "INPUT", "-d", "10.1.0.3/32", "-j", "DROP"),
            on_host(
                "ip",
                "neigh",
                "replace",
                "10.1.0.3",
                "lladdr",
                "02:00:00:00:01:00",
                "dev",
                "cni0",
                "nud",
                "reachable",
            ),
        ),
        mended_by=(
            within("pod1", "ip", "addr", "del", "10.1.0.3/24", "dev", "eth0"),
            on_host("ip", "neigh", "flush", "dev", "cni0"),
        ),
    ),
)
