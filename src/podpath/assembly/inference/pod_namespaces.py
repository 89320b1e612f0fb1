"""Pods that the evidence shows only from outside, made into namespaces that a walk can start and
end in.

A pod is an address behind one device of the host: a veth pair, with the pod's end called `eth0` as
the CNI specification has it. What hangs on a guess says so in `inferred`; nothing that an output
lists is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from podpath.assembly.devices.names import looks_like_bridge, looks_like_pod_side, looks_like_uplink
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.net.addresses import WIDTH, Address, IfName, Mac, Prefix
from podpath.net.provenance import Basis, Fact, Inferred, Known, Span
from podpath.node.links import BridgePort, InterfaceAddress, Link, Neighbour, Peer
from podpath.node.node import HOST
from podpath.node.routing import Nexthop, Route

POD_LINK = IfName("eth0")
_ANSWERED = (
    "what the pod sends does reach its host; where no output shows the MAC, one stands for it"
)
CILIUM_HOST = IfName("cilium_host")
TUNNELS = frozenset({"vxlan", "geneve", "ipip", "gre", "wireguard", "sit", "ip6tnl"})
"""Kinds of device that lead to other nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSeed:
    """What is known of a pod that is to become a namespace."""

    address: Address
    reason: str
    """Why it is taken to live on this node."""
    shown: bool = False
    """True where a line shows that the address is behind the device: a route to it alone, a frame
    that it sent.
    """
    span: Span | None = None
    netns: str | None = None
    """Its namespace, where outputs were taken in it."""
    link: IfName = POD_LINK
    host_link: IfName | None = None
    """The host's end of its veth pair; None where nothing shows it."""
    bridge: IfName | None = None
    """The bridge that the host's end is a port of; None where the host routes to it."""
    length: int | None = None
    """Of its prefix; None: the address alone."""
    gateway: Address | None = None
    mac: Mac | None = None

    def guess(self, how: str = "") -> Inferred:
        """Return the origin of what is guessed of the pod."""
        return Inferred(Basis.GUESSED, f"{self.reason}; {how}" if how else self.reason, self.span)

    def of_address(self) -> Inferred:
        """Return the origin of the pod's address."""
        return Inferred(Basis.SHOWN if self.shown else Basis.GUESSED, self.reason, self.span)


def add_pod(draft: NodeDraft, seed: PodSeed) -> NetnsDraft:
    """Return the pod's namespace, made or completed so that packets reach it and leave it."""
    owner = draft.owner(seed.address)
    name = seed.netns or (
        owner.name if owner is not None and owner.name != HOST else name_pod(seed.address)
    )
    netns = draft.netns(name, seed.guess())
    link = _own_link(netns, seed)
    host_link = join_host(draft, netns, link, seed)
    if not netns.owns(seed.address):
        length = seed.length if seed.length is not None else WIDTH[seed.address.family]
        netns.addresses.append(
            InterfaceAddress(
                link=link,
                address=seed.address,
                length=length,
                span=seed.span,
                inferred=seed.of_address(),
            )
        )
    _route_out(draft, netns, link, host_link, seed)
    if seed.bridge is None and host_link is not None:
        _route_in(draft, host_link, seed)
    return netns


def name_pod(address: Address) -> str:
    """Return the name of the namespace of a pod that only its address is known of."""
    return f"pod-{address}"


def join_host(draft: NodeDraft, netns: NetnsDraft, link: IfName, seed: PodSeed) -> IfName | None:
    """Join a pod's device with the host's end of its veth pair, made up where nothing shows it;
    give the host's device.
    """
    own = netns.links[link]
    if isinstance(own.peer, Known):
        peer: Peer = own.peer.value
        return peer.link if peer.netns == HOST else None
    name, how = (seed.host_link, "") if seed.host_link is not None else _choose_end(draft, seed)
    reason = seed.guess(how)
    named = seed.host_link is not None
    meant = "" if named else f"the host's end of the veth pair of the pod with {seed.address}"
    there = draft.host.add_link(Link(name=name, inferred=reason, stands_for=meant))
    if isinstance(there.peer, Known):
        return name
    there_peer: Fact[Peer] = Known(Peer(netns=netns.name, link=link), seed.span, reason.why, reason)
    own_peer: Fact[Peer] = Known(Peer(netns=HOST, link=name), seed.span, reason.why, reason)
    port = there.port if seed.bridge is None or there.port is not None else BridgePort()
    draft.host.links[name] = replace(
        there,
        kind=there.kind or "veth",
        peer=there_peer,
        master=there.master or seed.bridge,
        port=port,
    )
    netns.links[link] = replace(own, kind=own.kind or "veth", peer=own_peer)
    return name


def _choose_end(draft: NodeDraft, seed: PodSeed) -> tuple[IfName, str]:
    """Return the host's end of a pod's veth pair where nothing says which it is: a listed one that
    leads to no known pod.
    """
    if seed.bridge is None:
        free = [
            link
            for link in draft.host.links.values()
            if looks_like_pod_side(link) and link.peer is None
        ]
        for link in free:
            if link.master is None and link.bond_slave_of is None and not _leads_out(draft, link):
                return (
                    link.name,
                    f"which device of the host leads to it is not shown, {link.name} stands for it",
                )
    return IfName(
        f"{_prefix_of(draft)}-of-{_spell(seed.address)}"
    ), "the host's end of its veth pair is not shown"


def _prefix_of(draft: NodeDraft) -> str:
    """Return the prefix that the plugin at work gives the host's end of a pod's veth pair: rules
    match devices by it.
    """
    if draft.cilium is not None:
        return "lxc"
    plugins = {plugin for network in draft.cni for plugin in network.plugins}
    calico = "calico" in plugins or any(name.startswith("cali") for name in draft.host.links)
    return "cali" if calico else "veth"


def _spell(address: Address) -> str:
    """Spell an address without the signs that mean something else in a device's name or its
    sysctls.
    """
    return str(address).replace(".", "-").replace(":", "-")


def _own_link(netns: NetnsDraft, seed: PodSeed) -> IfName:
    """Return the pod's device: the one named, else its only listed one, else a new one."""
    listed = [name for name in netns.links if name != "lo"]
    name = seed.link if seed.link in netns.links or len(listed) != 1 else listed[0]
    own = netns.add_link(Link(name=name, kind="veth", inferred=seed.guess()))
    if own.mac is None and seed.mac is not None:
        netns.links[name] = replace(own, mac=seed.mac)
    return name


def _route_out(
    draft: NodeDraft, netns: NetnsDraft, link: IfName, host_link: IfName | None, seed: PodSeed
) -> None:
    """Give the pod a default route where none of its routes is shown: over the bridge's address, or
    any of the host's.
    """
    family = seed.address.family
    if any(route.prefix.family == family and route.nexthops for route in netns.routes):
        return
    gateway = seed.gateway
    if gateway is None:
        shown = [
            own.address
            for own in draft.host.addresses
            if own.address.family == family and own.scope == "global"
        ]
        usual = Address.parse("169.254.1.1" if family == 4 else "fe80::1")
        gateway = shown[0] if shown else usual
        _know_gateway(
            draft,
            netns,
            Neighbour(address=gateway, link=link, inferred=Inferred(Basis.GUESSED, _ANSWERED)),
            host_link,
        )
    netns.routes.append(
        Route(
            prefix=Prefix(family, 0, 0),
            nexthops=(Nexthop(link=link, gateway=gateway, onlink=seed.gateway is None),),
            inferred=seed.guess("a pod's default route leads to its host"),
        )
    )


def _know_gateway(
    draft: NodeDraft, netns: NetnsDraft, entry: Neighbour, host_link: IfName | None
) -> None:
    """Let the pod know its gateway's MAC: plugins that route answer ARP by a program of theirs, or
    set the entry for good.
    """
    there = draft.host.links.get(host_link) if host_link is not None else None
    if there is None:
        return
    mac = there.mac or Mac(
        ":".join(
            f"{byte:02x}" for byte in (2, *(entry.address.value & 0xFFFFFFFF).to_bytes(4, "big"), 1)
        )
    )
    draft.host.links[there.name] = replace(there, mac=mac)
    netns.neighbours.append(replace(entry, mac=mac, state="PERMANENT"))


def _route_in(draft: NodeDraft, host_link: IfName, seed: PodSeed) -> None:
    """Give the host a way to the pod: as its listed route says, else over the pod's veth.

    A route of the whole pod range over a device that leads nowhere else (cilium_host) is the way: a
    program on the device hands packets to the pod. One over the uplink is not, since the pod is
    here.
    """
    shown = draft.host.route_to(seed.address)
    link = draft.host.links.get(shown.nexthops[0].link or IfName("")) if shown is not None else None
    if (
        shown is not None
        and shown.prefix.length > 0
        and link is not None
        and not _leads_out(draft, link)
    ):
        # what Cilium's program on cilium_host does is modeled from its configuration, where it is
        # known to run
        modeled = draft.cilium is not None and link.name == CILIUM_HOST
        if (
            link.name != host_link
            and link.peer is None
            and not looks_like_bridge(link)
            and not modeled
        ):
            lead_to_pod(draft, link, seed)
        return
    draft.host.routes.append(
        Route(
            prefix=Prefix.of(seed.address),
            nexthops=(Nexthop(link=host_link),),
            scope="link",
            span=seed.span,
            inferred=seed.guess("no output shows the host's route to it"),
        )
    )


def lead_to_pod(draft: NodeDraft, device: Link, seed: PodSeed) -> None:
    """Let what leaves by a device arrive in the pod: one way only, for a program does it and no
    veth pair is there.
    """
    owner = draft.owner(seed.address)
    if owner is None:
        return
    link = next(own.link for own in owner.addresses if own.address == seed.address)
    reason = Inferred(
        Basis.GUESSED, f"a program on {device.name} hands what leaves by it to the pod", seed.span
    )
    peer: Fact[Peer] = Known(Peer(netns=owner.name, link=link), seed.span, reason.why, reason)
    draft.host.links[device.name] = replace(draft.host.links[device.name], peer=peer)


def _leads_out(draft: NodeDraft, link: Link) -> bool:
    """Tell whether the device leads to other hosts, also by what its name says."""
    return draft.host.leads_out(link) or looks_like_uplink(link) or link.kind in TUNNELS
