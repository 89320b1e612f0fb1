"""The shapes of node that the generator draws from: each gives a draft that works, and who can
speak to whom.

Every namespace that stands for another machine is part of the node too, so nothing that the model
says of it is assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.node.links import FdbEntry, Neighbour, Vxlan
from podpath.node.node import HOST, NetnsRole
from podpath.node.routing import Nexthop, Route
from podpath_lab.draft import Draft, DraftNetns


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A drafted node and its speakers."""

    name: str
    draft: Draft
    speakers: tuple[tuple[str, Address], ...]
    """(namespace, address) pairs that a probe may come from or go to."""
    devices: tuple[str, ...]
    """The host's devices, for interface matches."""


def bridged_pods() -> Topology:
    """Pods on a bridge of the host (flannel, Docker, the bridge plugin), and an uplink to another
    machine.
    """
    draft = _host()
    host = draft.namespaces[HOST]
    host.add_bridge("cni0", "02:00:00:00:00:fe")
    host.add_address("cni0", "10.1.0.1/24")
    speakers = [(HOST, Address.parse("10.1.0.1"))]
    for number in (1, 2):
        pod = draft.add_netns(f"pod{number}")
        draft.connect(pod.name, "eth0", HOST, f"veth{number}", number)
        draft.enslave(HOST, f"veth{number}", "cni0")
        pod.add_address("eth0", f"10.1.0.{number + 1}/24")
        pod.add_route("default", "eth0", "10.1.0.1")
        speakers.append((pod.name, Address.parse(f"10.1.0.{number + 1}")))
    host.sysctls["net.bridge.bridge-nf-call-iptables"] = "1"
    return _with_uplink(draft, speakers, ("cni0", "eth0", "veth1", "veth2"), "bridged pods")


def routed_pods(*, gateways: bool = True) -> Topology:
    """Pods behind a veth each, with a host route to each (Calico, Cilium, the ptp plugin).

    With `gateways` the host has an address on each pod's device; without, it answers ARP for
    169.254.1.1 by proxy_arp.
    """
    draft = _host()
    host = draft.namespaces[HOST]
    speakers = []
    for number in (1, 2):
        pod = draft.add_netns(f"pod{number}")
        device = f"lxc{number}"
        draft.connect(pod.name, "eth0", HOST, device, number)
        pod.add_address("eth0", f"10.1.0.{number + 1}/32")
        if gateways:
            host.add_address(device, f"10.1.{number}.1/32")
            pod.add_route(f"10.1.{number}.1", "eth0", scope="link")
            pod.add_route("default", "eth0", f"10.1.{number}.1")
        else:
            pod.add_route("169.254.1.1", "eth0", scope="link")
            pod.add_route("default", "eth0", "169.254.1.1")
            host.sysctls[f"net.ipv4.conf.{device}.proxy_arp"] = "1"
        host.add_route(f"10.1.0.{number + 1}", device, scope="link")
        speakers.append((pod.name, Address.parse(f"10.1.0.{number + 1}")))
    return _with_uplink(draft, speakers, ("lxc1", "lxc2", "eth0"), "routed pods")


def two_uplinks(*, gateways: bool = True) -> Topology:
    """One routed pod and two ways out, each with its own table chosen by a policy rule."""
    topology = routed_pods(gateways=gateways)
    draft = topology.draft
    host = draft.namespaces[HOST]
    other = draft.add_netns("world2", NetnsRole.OTHER)
    draft.connect(HOST, "eth1", "world2", "eth0", 21)
    host.add_address("eth1", "192.0.2.10/24")
    other.add_address("eth0", "192.0.2.1/24")
    other.add_address("lo", "198.51.100.2/32")
    for prefix in ("10.1.0.0/16", "172.31.0.0/24"):
        other.add_route(prefix, "eth0", "192.0.2.10")
    host.add_route("default", "eth1", "192.0.2.1", table=100)
    host.add_route("198.51.100.2", "eth1", "192.0.2.1")
    speakers = (
        *topology.speakers,
        (HOST, Address.parse("192.0.2.10")),
        ("world2", Address.parse("192.0.2.1")),
        ("world2", Address.parse("198.51.100.2")),
    )
    return Topology(
        name="two uplinks", draft=draft, speakers=speakers, devices=(*topology.devices, "eth1")
    )


def overlay() -> Topology:
    """Two nodes with pods on a bridge each, and a vxlan device between them (flannel): both nodes
    are namespaces here.
    """
    draft = _host()
    far = draft.add_netns("node2", NetnsRole.OTHER)
    far.sysctls |= draft.namespaces[HOST].sysctls
    draft.connect(HOST, "eth0", "node2", "eth0", 20)
    ends = ((HOST, 0, "172.31.0.10", 1), ("node2", 1, "172.31.0.20", 3))
    speakers: list[tuple[str, Address]] = []
    for name, number, underlay, first_pod in ends:
        netns = draft.namespaces[name]
        netns.add_address("eth0", f"{underlay}/24")
        netns.add_bridge("cni0", f"02:00:00:00:00:f{number}")
        netns.add_address("cni0", f"10.1.{number}.1/24")
        pod = draft.add_netns(f"pod{first_pod}")
        draft.connect(pod.name, "eth0", name, f"veth{first_pod}", first_pod)
        draft.enslave(name, f"veth{first_pod}", "cni0")
        pod.add_address("eth0", f"10.1.{number}.2/24")
        pod.add_route("default", "eth0", f"10.1.{number}.1")
        speakers += [
            (name, Address.parse(underlay)),
            (name, Address.parse(f"10.1.{number}.1")),
            (pod.name, Address.parse(f"10.1.{number}.2")),
        ]
        _join_overlay(netns, number, underlay, ends[1 - number][2])
    draft.namespaces[HOST].sysctls["net.bridge.bridge-nf-call-iptables"] = "1"
    draft.namespaces[HOST].add_route("default", "eth0", "172.31.0.20")
    devices = ("cni0", "eth0", "veth1", "flannel.1")
    return Topology(
        name="vxlan between two nodes", draft=draft, speakers=tuple(speakers), devices=devices
    )


def _join_overlay(netns: DraftNetns, number: int, underlay: str, remote: str) -> None:
    """Give a node its vxlan device, with the route, neighbor and forwarding entry of the other
    node.
    """
    other = 1 - number
    netns.add_vxlan(
        "flannel.1",
        f"02:00:00:00:aa:0{number}",
        Vxlan(vni=1, port=8472, local=Address.parse(underlay), learning=False),
        1450,
    )
    netns.add_address("flannel.1", f"10.1.{number}.0/32")
    mac, gateway = Mac(f"02:00:00:00:aa:0{other}"), Address.parse(f"10.1.{other}.0")
    hop = Nexthop(link=IfName("flannel.1"), gateway=gateway, onlink=True)
    netns.routes.append(Route(prefix=Prefix.parse(f"10.1.{other}.0/24", 4), nexthops=(hop,)))
    netns.neighbours.append(
        Neighbour(address=gateway, link=IfName("flannel.1"), mac=mac, state="PERMANENT")
    )
    netns.fdb.append(FdbEntry(mac=mac, link=IfName("flannel.1"), dst=Address.parse(remote)))


def _host() -> Draft:
    draft = Draft()
    host = draft.add_netns(HOST)
    host.sysctls["net.ipv4.ip_forward"] = "1"
    for scope in ("all", "default"):
        host.sysctls[f"net.ipv4.conf.{scope}.rp_filter"] = "0"
    return draft


def _with_uplink(
    draft: Draft, speakers: list[tuple[str, Address]], devices: tuple[str, ...], name: str
) -> Topology:
    host = draft.namespaces[HOST]
    world = draft.add_netns("world", NetnsRole.OTHER)
    draft.connect(HOST, "eth0", "world", "eth0", 20)
    host.add_address("eth0", "172.31.0.10/24")
    host.add_route("default", "eth0", "172.31.0.1")
    world.add_address("eth0", "172.31.0.1/24")
    world.add_address("lo", "198.51.100.1/32")
    world.add_route("10.1.0.0/16", "eth0", "172.31.0.10")
    outside = [
        (HOST, Address.parse("172.31.0.10")),
        ("world", Address.parse("172.31.0.1")),
        ("world", Address.parse("198.51.100.1")),
    ]
    return Topology(name=name, draft=draft, speakers=tuple(speakers + outside), devices=devices)


TOPOLOGIES: tuple[Callable[[], Topology], ...] = (
    bridged_pods,
    routed_pods,
    lambda: routed_pods(gateways=False),
    two_uplinks,
    lambda: two_uplinks(gateways=False),
    overlay,
)
"""What the generator draws from."""
