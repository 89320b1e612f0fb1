"""Pods that nothing but an address is known of: an event, a failing probe, a URL in a log.

How the host reaches such a pod decides a good deal (the way back to it is what rp_filter checks),
and nothing shows it. There are three ways that plugins take: a route over the pod's own veth pair;
a route of the whole pod range over one other device, whose program hands the packet to the pod
while answers come in on its veth; and a bridge. The likeliest by what is known of the plugin is
taken, and the others are alternatives of the case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.bridge_pods import AddressMention
from podpath.assembly.inference.pod_namespaces import CILIUM_HOST, PodSeed, add_pod
from podpath.assembly.scenes.labels import StateLikelihood
from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Basis, Inferred, Known
from podpath.node.links import Bridge, InterfaceAddress, Link
from podpath.node.node import HOST
from podpath.node.routing import Nexthop, Route

DIRECT, DEVICE, BRIDGE = "direct", "device", "bridge"
MEANINGS = {
    DIRECT: (
        "by a route over the pod's own veth pair (Calico, Cilium with endpoint routes, most cloud "
        "plugins)"
    ),
    DEVICE: (
        "by a route of the pod range over another device than the pod's veth (Cilium's cilium_host)"
    ),
    BRIDGE: "by a bridge that the pod's veth is a port of (flannel, kubenet, the bridge plugin)",
}
"""The ways in which the host may reach a pod."""
_RANGE = 24
"""The length of a node's pod range where nothing shows it: what kubeadm and Cilium hand out
(--node-cidr-mask-size).
"""
_MOST = 32
"""Pods made in this way: an output of events may hold those of a whole cluster."""
_BRIDGING = frozenset({"bridge", "flannel", "kubenet", "loopback-bridge"})
_ROUTING = frozenset({"calico", "aws-cni", "ptp", "azure-vnet", "terway", "gke"})


def infer_lone_pods(
    draft: NodeDraft, addresses: Iterable[tuple[Address, AddressMention]], disputes: Disputes
) -> None:
    """Make a namespace for each pod that is known by its address alone; one node reaches all of
    them in one way.
    """
    lone: list[PodSeed] = []
    for address, mention in addresses:
        if address.family != 4 or _is_joined(draft, address):
            continue
        seed = PodSeed(
            address=address,
            reason=f"{mention.span or 'the evidence'}: {mention.what} {address}",
            span=mention.span,
        )
        shown = draft.host.route_to(address)
        if draft.host.on_link(address) is not None or (
            shown is not None and shown.prefix.length > 0
        ):
            add_pod(draft, seed)
        else:
            lone.append(seed)
    if not lone:
        return
    first = lone[0].address
    if len(lone) == 1:
        fact = f"how the host reaches {first}"
    else:
        fact = f"how the host reaches its pods ({first} and others)"
    claims = [
        DisputeClaim(way, None, StateLikelihood.PLAIN, MEANINGS[way], shown=False)
        for way in _rank_ways(draft)
    ]
    way = disputes.decide(fact, f"ip route get {first}", claims)
    for seed in lone[:_MOST]:
        _ADDERS[way](draft, seed)


def _is_joined(draft: NodeDraft, address: Address) -> bool:
    """Tell whether the namespace that has the address is the host's, or is joined with it."""
    owner = draft.owner(address)
    return owner is not None and (
        owner.name == HOST or any(link.peer is not None for link in owner.links.values())
    )


def _rank_ways(draft: NodeDraft) -> tuple[str, ...]:
    plugins = {plugin for network in draft.cni for plugin in network.plugins}
    if draft.cilium is not None or "cilium-cni" in plugins:
        if _routes_endpoints(draft):
            return (DIRECT, DEVICE)
        return (DEVICE, DIRECT)
    if plugins & _BRIDGING:
        return (BRIDGE, DIRECT, DEVICE)
    if plugins & _ROUTING:
        return (DIRECT, DEVICE)
    return (DIRECT, DEVICE, BRIDGE)


def _routes_endpoints(draft: NodeDraft) -> bool:
    if draft.cilium is not None:
        option = draft.cilium.options.get("enable-endpoint-routes")
    else:
        option = None
    return isinstance(option, Known) and option.value.lower() == "true"


def _add_direct(draft: NodeDraft, seed: PodSeed) -> None:
    add_pod(draft, seed)


def _add_by_device(draft: NodeDraft, seed: PodSeed) -> None:
    """Let the host's packets reach the pod over a device of the pod range, and the pod's come in on
    its veth.
    """
    host = draft.host
    pod_range = Prefix.of(seed.address, _RANGE)
    name = CILIUM_HOST if draft.cilium is not None else IfName("pod-router")
    taken = name in host.links
    if taken:
        name = IfName(f"{name}-{len(host.links)}")
    reason = f"{seed.reason}; taken to be reached {MEANINGS[DEVICE]}"
    guessed = Inferred(Basis.GUESSED, reason, seed.span)
    known = name == CILIUM_HOST
    meant = "" if known else f"the device by which the host reaches {seed.address}"
    host.add_link(Link(name=name, noarp=True, inferred=guessed, stands_for=meant))
    prefix = Prefix.of(seed.address) if taken else pod_range
    host.routes.append(
        Route(
            prefix=prefix,
            nexthops=(Nexthop(link=name),),
            scope="link",
            span=seed.span,
            inferred=guessed,
        )
    )
    add_pod(draft, replace(seed, reason=reason))


def _add_by_bridge(draft: NodeDraft, seed: PodSeed) -> None:
    host = draft.host
    pod_range = Prefix.of(seed.address, _RANGE)
    reason = f"{seed.reason}; taken to be reached {MEANINGS[BRIDGE]}"
    guessed = Inferred(Basis.GUESSED, reason, seed.span)
    bridge = next((own.link for own in host.addresses if own.prefix == pod_range), None)
    bridge = bridge or IfName("cni0" if "cni0" not in host.links else f"cni{len(host.links)}")
    meant = f"the bridge by which the host reaches {seed.address}"
    host.add_link(
        Link(name=bridge, kind="bridge", bridge=Bridge(), inferred=guessed, stands_for=meant)
    )
    gateway = Address(4, pod_range.network + 1)
    if gateway != seed.address and not host.owns(gateway):
        host.addresses.append(
            InterfaceAddress(
                link=bridge,
                address=gateway,
                length=_RANGE,
                inferred=guessed,
                stands_for=f"the address of {meant}",
            )
        )
    add_pod(draft, replace(seed, reason=reason, bridge=bridge, length=_RANGE, gateway=gateway))


_ADDERS = {DIRECT: _add_direct, DEVICE: _add_by_device, BRIDGE: _add_by_bridge}
