"""Cilium's BPF programs, modeled from its configuration: what they do before the stack sees a
packet, and after.

At a pod's host device (`lxc*`) a program delivers to local pods and into the tunnel itself, and
hands the rest to the stack. At the node's own devices one translates the source of what pods send
(`enable-bpf-masquerade`); the answer is translated back where it comes in and goes straight to the
pod's device, so the host's netfilter and conntrack never see it.
"""

from __future__ import annotations

from podpath.datapath.cilium.services import (
    PLAIN,
    choose_backend,
    choose_endpoint,
    find_frontend,
    is_service,
    shows_maps,
)
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import cilium as reasons
from podpath.datapath.routing.assumed import likeliest_uplinks, look_up
from podpath.datapath.routing.destinations import select_path
from podpath.datapath.tracing.frames import with_macs, with_ttl
from podpath.datapath.tracing.paths import EMIT, RECEIVE, REDIRECT, Next
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import BoundaryName, StageName, StepDecision
from podpath.datapath.walk.cilium_config import CiliumConfig
from podpath.datapath.walk.learned import BpfKey, BpfMap, BpfTranslation
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Known, Span
from podpath.node.links import Link
from podpath.node.netfilter import ConnTuple
from podpath.node.node import HOST, Frontend
from podpath.node.routing import Nexthop, Route

FROM_CONTAINER = "bpf/bpf_lxc.c:cil_from_container, Cilium"
FROM_NETDEV = "bpf/bpf_host.c:cil_from_netdev, Cilium"
TO_NETDEV = "bpf/bpf_host.c:cil_to_netdev, Cilium"
FROM_OVERLAY = "bpf/bpf_overlay.c:cil_from_overlay, Cilium"
FROM_HOST = "bpf/bpf_host.c:cil_from_host, Cilium"
SOCKET = "bpf/bpf_sock.c:cil_sock4_connect, Cilium"
HOST_DEVICE, PREFIX = "cilium_host", "lxc"
OVERLAYS = ("cilium_vxlan", "cilium_geneve")
_ANSWERS = {
    BpfMap.POD_SERVICE: BpfMap.POD_SERVICE_ANSWER,
    BpfMap.SOCKET_SERVICE: BpfMap.SOCKET_SERVICE_ANSWER,
}
"""Where each map's answers are translated back."""
STAND_IN = Address(4, 192 << 24 | 2 << 8 | 1)
"""192.0.2.1 (RFC 5737): stands for a device's address that the evidence does not show."""


def is_endpoint(link: Link) -> bool:
    """Tell whether a device is the host's end of a pod that Cilium runs."""
    return link.name.startswith(PREFIX)


def receive(walk: Walk, skb: Skb, link: Link) -> Next:
    """Run the program at a device's tc ingress; None where it hands the packet to the stack."""
    config = walk.engine.cilium
    if config is None or skb.netns.name != HOST or skb.packet.family == 6:
        return None
    if is_endpoint(link):
        return _from_container(walk, skb, config, link)
    namespace = walk.engine.namespace(HOST)
    if link.name in OVERLAYS:
        return _from_overlay(walk, skb, namespace)
    if _is_native(namespace, config, link):
        return _from_netdev(walk, skb, config, link)
    return None


def _from_overlay(walk: Walk, skb: Skb, namespace: Namespace) -> Next:
    """Deliver to a pod of the node, or to the node itself on `cilium_host`: the sender's programs
    wrote the MAC that it is for there, whatever the tunnel's own (`ipv4_host_delivery`).
    """
    target = _endpoint_link(walk, namespace, skb.packet.dst)
    if target is not None:
        return _to_container(walk, skb, target, StageName.DEVICE_RECEIVE)
    if not namespace.owns(skb.packet.dst) or HOST_DEVICE not in namespace.links:
        return None
    device, before = namespace.links[HOST_DEVICE], skb.packet
    skb.packet = with_macs(before, before.smac, namespace.mac(device))
    walk.trace.step(
        StageName.TC_INGRESS,
        skb,
        FROM_OVERLAY,
        before,
        StepDecision.REDIRECT,
        reasons.DeliveredToHost(device.name),
        link=device.name,
    )
    skb.link = device
    return RECEIVE


def _from_container(walk: Walk, skb: Skb, config: CiliumConfig, link: Link) -> Next:
    namespace = walk.engine.namespace(HOST)
    if _restore_outside(walk, skb, link):
        return _route_past_host(walk, skb, namespace, link)
    refused = _translate_service(walk, skb, BpfMap.POD_SERVICE, FROM_CONTAINER)
    if refused is not None:
        return refused
    dst = skb.packet.dst
    if namespace.owns(dst):
        return None
    if not config.routes_endpoints(walk.choices):
        target = _endpoint_link(walk, namespace, dst)
        if target is not None and target.name != link.name:
            return _to_container(walk, skb, target, StageName.DEVICE_RECEIVE)
        overlay = _overlay(walk, namespace, config, dst)
        if overlay is not None:
            return _to_overlay(walk, skb, overlay, FROM_CONTAINER, namespace)
    if config.bypasses_host(walk.choices):
        return _route_past_host(walk, skb, namespace, link)
    walk.trace.step(
        StageName.TC_INGRESS,
        skb,
        FROM_CONTAINER,
        skb.packet,
        StepDecision.PASS,
        reasons.HandedToStack(),
        spans=config.spans,
        link=link.name,
    )
    return None


def _from_netdev(walk: Walk, skb: Skb, config: CiliumConfig, link: Link) -> Next:
    before = skb.packet
    known = walk.learned.bpf.get(BpfKey(BpfMap.MASQUERADE, _tuple(before)))
    if known is None:
        frontend = find_frontend(walk, before)
        if frontend is not None and "non-routable" not in frontend.flags:
            return _from_outside(walk, skb, link, frontend)
        if config.replaces_kube_proxy(walk.choices) and is_service(
            walk.engine.node, before, walk.engine.namespace(HOST)
        ):
            return boundary(walk, skb, BoundaryName.CILIUM_NODEPORT)
        if _endpoint_link(walk, walk.engine.namespace(HOST), before.dst) is not None:
            walk.learned.bpf[BpfKey(BpfMap.MASQUERADE, _inverse(before))] = BpfTranslation(
                before.dst, before.dport
            )
        return None
    skb.packet = before._replace(dst=known.address, dport=known.port)
    reason = reasons.AnswerRedirected(known.address)
    spans = config.evidence("enable-bpf-masquerade")
    walk.trace.step(
        StageName.TC_INGRESS,
        skb,
        FROM_NETDEV,
        before,
        StepDecision.REDIRECT,
        reason,
        spans=spans,
        link=link.name,
    )
    target = known.link or _endpoint_link(walk, walk.engine.namespace(HOST), known.address)
    if target is None:
        return None
    return _to_container(walk, skb, target, StageName.TC_INGRESS)


def _from_outside(walk: Walk, skb: Skb, link: Link, frontend: Frontend) -> Next:
    """Translate a service for a packet from outside, as the maps have it: to a pod of this node,
    with the client's own address (bpf/lib/nodeport.h:nodeport_lb4). To another node it is sent
    with a translated source, a tunnel or an option, which is not modeled.
    """
    before = skb.packet
    if not frontend.flags <= PLAIN:
        return boundary(walk, skb, BoundaryName.CILIUM_NODEPORT)
    if not frontend.backends:
        return _refuse(walk, skb, FROM_NETDEV, frontend)
    address, port = choose_backend(walk, before, frontend)
    target = _endpoint_link(walk, walk.engine.namespace(HOST), address)
    if target is None:
        return boundary(walk, skb, BoundaryName.CILIUM_NODEPORT)
    skb.packet = before._replace(dst=address, dport=port)
    learned = walk.learned.bpf
    restored = BpfTranslation(before.dst, before.dport)
    learned[BpfKey(BpfMap.OUTSIDE_SERVICE_ANSWER, _inverse(skb.packet))] = restored
    learned[BpfKey(BpfMap.MASQUERADE, _inverse(before))] = restored
    walk.trace.step(
        StageName.SERVICE,
        skb,
        FROM_NETDEV,
        before,
        StepDecision.DNAT,
        reasons.ServiceTranslated(before.dst, address, by_maps=True),
        spans=_lines(frontend, (address, port)),
        link=link.name,
    )
    return _to_container(walk, skb, target, StageName.TC_INGRESS)


def _restore_outside(walk: Walk, skb: Skb, link: Link) -> bool:
    """Give a pod's answer to somebody outside the service's address again; tell whether it is
    one.
    """
    before = skb.packet
    known = walk.learned.bpf.get(BpfKey(BpfMap.OUTSIDE_SERVICE_ANSWER, _tuple(before)))
    if known is None:
        return False
    skb.packet = before._replace(src=known.address, sport=known.port)
    reason = reasons.ServiceRestored(known.address)
    walk.trace.step(
        StageName.SERVICE, skb, FROM_CONTAINER, before, StepDecision.SNAT, reason, link=link.name
    )
    return True


def _refuse(walk: Walk, skb: Skb, function: str, frontend: Frontend) -> Dropped | Rejected:
    """End what is for a service without a backend: a socket is told at once, a program at a device
    drops it.
    """
    at_socket = function == SOCKET
    walk.trace.step(
        StageName.SERVICE,
        skb,
        function,
        skb.packet,
        StepDecision.REJECT if at_socket else StepDecision.DROP,
        reasons.NoBackend(skb.packet.dst, skb.packet.dport),
        spans=frontend.spans,
    )
    if at_socket:
        return Rejected(netns=skb.netns.name, reason="NOT_SPECIFIED", answer="EHOSTUNREACH")
    return Dropped(netns=skb.netns.name, reason="TC_INGRESS")


def _lines(frontend: Frontend, backend: tuple[Address, int]) -> tuple[Span, ...]:
    """Return the line of a backend, then that of its frontend."""
    place = frontend.backends.index(backend) + 1
    return (*frontend.spans[place : place + 1], *frontend.spans[:1])


def transmit(walk: Walk, skb: Skb) -> Next:
    """Run the program at a device's tc egress; None where the device sends the packet."""
    config, link = walk.engine.cilium, skb.oif
    if (
        config is None
        or link is None
        or skb.netns.name != HOST
        or skb.packet.family == 6
        or skb.inner is not None
    ):
        return None
    namespace = walk.engine.namespace(HOST)
    if is_endpoint(link):
        _restore_service(walk, skb, link)
        return None
    if link.name == HOST_DEVICE:
        return _from_host(walk, skb, config, namespace)
    if _is_native(namespace, config, link) and config.masquerades(walk.choices):
        _masquerade(walk, skb, config, namespace, link)
    return None


def _from_host(walk: Walk, skb: Skb, config: CiliumConfig, namespace: Namespace) -> Next:
    target = _endpoint_link(walk, namespace, skb.packet.dst)
    if target is not None:
        return _to_container(walk, skb, target, StageName.TC_EGRESS)
    overlay = _overlay(walk, namespace, config, skb.packet.dst)
    if overlay is None:
        return None
    return _to_overlay(walk, skb, overlay, FROM_HOST, namespace)


def _masquerade(
    walk: Walk, skb: Skb, config: CiliumConfig, namespace: Namespace, link: Link
) -> None:
    """Translate the source of what a pod sends out of the cluster to the device's address."""
    before, source = skb.packet, skb.iif
    from_pod = (source is not None and is_endpoint(source)) or _endpoint_link(
        walk, namespace, before.src
    ) is not None
    if (
        not from_pod
        or BpfKey(BpfMap.MASQUERADE, _tuple(before)) in walk.learned.bpf
        or namespace.owns(before.src)
    ):
        return
    if any(network.covers(before.dst) for network in config.networks):
        return
    own = namespace.primary_addresses(link.name, 4)
    address = own[0].address if own else STAND_IN
    skb.packet = before._replace(src=address)
    pod: Link | None = source
    if source is None or not is_endpoint(source):
        pod = _endpoint_link(walk, namespace, before.src)
    walk.learned.bpf[BpfKey(BpfMap.MASQUERADE, _inverse(skb.packet))] = BpfTranslation(
        before.src, before.sport, pod
    )
    spans: tuple[Span, ...] = config.evidence("enable-bpf-masquerade")
    reason = reasons.BpfMasqueraded(address, before.src, link.name, not own)
    walk.trace.step(
        StageName.TC_EGRESS,
        skb,
        TO_NETDEV,
        before,
        StepDecision.SNAT,
        reason,
        spans=spans,
        link=link.name,
    )


def _to_container(walk: Walk, skb: Skb, target: Link, stage: StageName) -> Next:
    """Deliver straight to a pod's device, past the stack."""
    _restore_service(walk, skb, target)
    reason = reasons.DeliveredToEndpoint(target.name)
    walk.trace.step(
        stage, skb, FROM_CONTAINER, skb.packet, StepDecision.REDIRECT, reason, link=target.name
    )
    skb.packet = with_macs(
        skb.packet, walk.engine.namespace(HOST).mac(target), _container_mac(walk, target)
    )
    skb.link = target
    return EMIT


def _container_mac(walk: Walk, target: Link) -> Mac | None:
    """Return the MAC of the pod's end, which the endpoint map holds (bpf/lib/local_delivery.h);
    None where no output shows it.
    """
    peer = target.peer.value if isinstance(target.peer, Known) else None
    if peer is None or peer.netns not in walk.engine.node.namespaces:
        return None
    namespace = walk.engine.namespace(peer.netns)
    return namespace.mac(namespace.link(peer.link))


def _to_overlay(walk: Walk, skb: Skb, overlay: Link, function: str, namespace: Namespace) -> Next:
    """Send a packet to the node of its pod; a pod of this node that no output shows may have its
    address as well as none.
    """
    dst = skb.packet.dst
    route = namespace.routing(4).lookup(FlowKey(dst)).route
    if route is not None and any(leads_to_own_pods(route, hop) for hop in route.nexthops):
        return boundary(walk, skb, BoundaryName.CILIUM_ENDPOINT, dst)
    reason = reasons.SentThroughOverlay(overlay.name)
    walk.trace.step(
        StageName.TC, skb, function, skb.packet, StepDecision.ENCAPSULATE, reason, link=overlay.name
    )
    skb.link = overlay
    return EMIT


def _route_past_host(walk: Walk, skb: Skb, namespace: Namespace, link: Link) -> Next:
    packet = skb.packet
    found = look_up(walk.choices, namespace, FlowKey(packet.dst, packet.src, link.name))
    if found.error or found.type != "unicast":
        return None
    skb.destination = select_path(walk.choices, namespace, found, packet.src, packet.dst)
    skb.iif, skb.oif = link, skb.destination.link
    skb.packet = with_ttl(packet, packet.ttl - 1)
    name = skb.oif.name if skb.oif is not None else None
    walk.trace.step(
        StageName.TC_INGRESS,
        skb,
        FROM_CONTAINER,
        packet,
        StepDecision.REDIRECT,
        reasons.RoutedPastHost(name),
        link=name,
    )
    return REDIRECT


def _overlay(walk: Walk, namespace: Namespace, config: CiliumConfig, dst: Address) -> Link | None:
    """Return the tunnel device for a pod of another node: its network is routed to
    `cilium_host`.
    """
    if not config.tunnels(walk.choices):
        return None
    found = namespace.routing(4).lookup(FlowKey(dst))
    route = found.route
    by_route = route is not None and any(hop.link == HOST_DEVICE for hop in route.nexthops)
    if not by_route and not (
        route is None and any(network.covers(dst) for network in config.networks)
    ):
        return None
    return next(
        (namespace.links[name] for name in OVERLAYS if name in namespace.links),
        namespace.link(OVERLAYS[0]),
    )


def leads_to_own_pods(route: Route | None, hop: Nexthop) -> bool:
    """Tell whether a route is Cilium's to the node's own pods: to its host device, with a preferred
    source out of the same range. A pod behind it comes in on a device of its own.
    """
    if route is None or hop.link != HOST_DEVICE or route.prefsrc is None:
        return False
    return route.prefix.covers(route.prefsrc)


def _endpoint_link(walk: Walk, namespace: Namespace, address: Address) -> Link | None:
    """Return the host device of the pod that has an address."""
    if "endpoints" not in namespace.answers:
        _index_endpoints(walk, namespace)
    found = namespace.answers.get(("endpoint", address))
    if isinstance(found, Link):
        return found
    route = namespace.routing(4).lookup(FlowKey(address)).route
    if route is not None:
        names = [hop.link for hop in route.nexthops if hop.link is not None]
    else:
        names = []
    if names and names[0].startswith(PREFIX):
        return namespace.link(names[0])
    return None


def _index_endpoints(walk: Walk, namespace: Namespace) -> None:
    for link in namespace.ordered:
        if (
            is_endpoint(link)
            and isinstance(link.peer, Known)
            and link.peer.value.netns in walk.engine.node.namespaces
        ):
            for address in walk.engine.namespace(link.peer.value.netns).addresses:
                if not address.is_loopback:
                    namespace.answers["endpoint", address] = link
    namespace.answers["endpoints"] = True


def _is_native(namespace: Namespace, config: CiliumConfig, link: Link) -> bool:
    if config.devices:
        return link.name in config.devices
    if link.name.startswith(("cilium_", PREFIX)):
        return False
    return link in likeliest_uplinks(namespace) or _has_default_route(namespace, link)


def _has_default_route(namespace: Namespace, link: Link) -> bool:
    """Tell whether the node's default route leads over the device: Cilium finds its devices by
    that, whatever their kind.
    """
    defaults = [route for route in namespace.netns.routes.items if route.prefix.length == 0]
    return any(hop.link == link.name for route in defaults for hop in route.nexthops)


def connect(walk: Walk, skb: Skb) -> Next:
    """Translate a service's address where a process connects to it, where Cilium replaces
    kube-proxy.
    """
    config = walk.engine.cilium
    if config is not None and skb.inner is None and config.replaces_kube_proxy(walk.choices):
        return _translate_service(walk, skb, BpfMap.SOCKET_SERVICE, SOCKET)
    return None


def restore_peer(walk: Walk, skb: Skb) -> None:
    """Show a process the service that it connected to, not the endpoint that answers."""
    before = skb.packet
    known = walk.learned.bpf.get(BpfKey(BpfMap.SOCKET_SERVICE_ANSWER, _tuple(before)))
    if known is not None:
        skb.packet = before._replace(src=known.address, sport=known.port)
        walk.trace.step(
            StageName.SOCKET,
            skb,
            SOCKET,
            before,
            StepDecision.SNAT,
            reasons.PeerShown(known.address),
        )


def _translate_service(walk: Walk, skb: Skb, services: BpfMap, function: str) -> Next:
    """Translate a service's address to one of its endpoints, the same one for the whole connection;
    the maps say which, where they are shown.
    """
    before = skb.packet
    frontend = find_frontend(walk, before)
    if frontend is not None and (not frontend.flags <= PLAIN or before.dst.is_loopback):
        # From loopback the kernel chooses the source again, for the backend.
        return boundary(walk, skb, BoundaryName.CILIUM_NODEPORT)
    if frontend is not None and not frontend.backends:
        return _refuse(walk, skb, function, frontend)
    key = BpfKey(services, _tuple(before))
    known = walk.learned.bpf.get(key)
    if known is None:
        if frontend is not None:
            chosen: tuple[Address, int] | None = choose_backend(walk, before, frontend)
        else:
            chosen = None if shows_maps(walk) else choose_endpoint(walk, before)
        if chosen is None:
            return None
        known = walk.learned.bpf[key] = BpfTranslation(*chosen)
    skb.packet = before._replace(dst=known.address, dport=known.port)
    walk.learned.bpf[BpfKey(_ANSWERS[services], _inverse(skb.packet))] = BpfTranslation(
        before.dst, before.dport
    )
    walk.trace.step(
        StageName.SERVICE,
        skb,
        function,
        before,
        StepDecision.DNAT,
        reasons.ServiceTranslated(before.dst, known.address, frontend is not None),
        spans=() if frontend is None else _lines(frontend, (known.address, known.port)),
    )
    return None


def _restore_service(walk: Walk, skb: Skb, link: Link) -> None:
    before = skb.packet
    known = walk.learned.bpf.get(BpfKey(BpfMap.POD_SERVICE_ANSWER, _tuple(before)))
    if known is not None:
        skb.packet = before._replace(src=known.address, sport=known.port)
        reason = reasons.ServiceRestored(known.address)
        walk.trace.step(
            StageName.SERVICE,
            skb,
            FROM_CONTAINER,
            before,
            StepDecision.SNAT,
            reason,
            link=link.name,
        )


def _tuple(packet: Packet) -> ConnTuple:
    return ConnTuple(packet.src, packet.dst, packet.protocol, packet.sport, packet.dport)


def _inverse(packet: Packet) -> ConnTuple:
    """Return the tuple that the answer has; an ICMP echo's identifier is in both ports."""
    if packet.protocol in {protocols.TCP, protocols.UDP, protocols.SCTP, protocols.ICMP}:
        return ConnTuple(packet.dst, packet.src, packet.protocol, packet.dport, packet.sport)
    return ConnTuple(packet.dst, packet.src, packet.protocol)
