"""Tunnels that the node's devices describe: vxlan, ipip and gre. The outer packet takes its own way
through output and hooks.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.devices import wire
from podpath.datapath.devices.segment import NOBODY
from podpath.datapath.devices.tunnel_checksum import refuse_wrong
from podpath.datapath.icmp import drop_outer
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.devices import (
    NoRemoteEnd,
    OwnFrameReturned,
    TunnelFromOther,
    TunnelPortClosed,
    TunnelsNested,
    Unwrapped,
    VniUnknown,
    Wrapped,
    WrappedForUnknownEnd,
)
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.paths import OUTPUT, RECEIVE, Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, DropCause, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb, forget_connection
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address, Family, Mac
from podpath.net.packet import Packet
from podpath.net.probe import EPHEMERAL
from podpath.net.provenance import Known, Span
from podpath.node.links import FdbEntry, Geneve, Link, Vxlan

VXLAN = "drivers/net/vxlan/vxlan_core.c:vxlan_xmit_one v6.12"
IPIP = "net/ipv4/ip_tunnel.c:ip_tunnel_xmit v6.12"
RECEIVED = "drivers/net/vxlan/vxlan_core.c:vxlan_rcv v6.12"
RECURSION = "net/ipv4/ip_tunnel_core.c:iptunnel_xmit v6.18"
NESTED = 2
"""Tunnels around the packet that a further one would wrap, beyond the first."""
GENEVE = "drivers/net/geneve.c:geneve_xmit_skb v6.12"
GENEVE_RECEIVED = "drivers/net/geneve.c:geneve_udp_encap_recv v6.12"
_ANY_PORT = (1, 0xFFFF)
"""What geneve takes its source ports from (`geneve_xmit_skb`)."""
_HEADERS = {"vxlan": 50, "geneve": 50, "ipip": 20, "gre": 24}
"""Bytes that each kind puts in front."""
_KEY = 4
LOCAL_PORTS = (32768, 60999)
"""`net.ipv4.ip_local_port_range` as the kernel sets it up."""
_SENDING = {"geneve": GENEVE, "wireguard": "drivers/net/wireguard/device.c:wg_xmit v6.12"}
_WITHIN_IP = {protocols.IPIP: "ipip", protocols.GRE: "gre"}
"""Kinds of devices that take what comes in by a protocol."""


def emit_vxlan(walk: Walk, skb: Skb, link: Link) -> Next:
    """Wrap a frame in UDP toward the remote end that has its MAC (`bridge fdb show dev vxlan`), or
    the default one.
    """
    details = link.vxlan
    if details is None:
        return wire.send(walk, skb, link)
    if len(skb.wrapped) >= NESTED:
        nested = TunnelsNested(link.name, NESTED)
        _record_at(walk, skb, link, RECURSION, StepDecision.DROP, nested)
        return _dropped(walk, skb, DropCause.VXLAN_RECURSION)
    if details.external:
        return _emit_external(walk, skb, link)
    namespace = walk.engine.namespace(skb.netns.name)
    remote, spans = _remote_end(namespace, link, details, skb.packet.dmac)
    if remote is not None:
        port = _source_port(walk, skb)
        return wrap(walk, skb, link, _outer(skb.packet, port, details, remote), spans)
    if namespace.netns.fdb.complete:
        nowhere = NoRemoteEnd(link.name, skb.packet.dmac)
        _record_at(walk, skb, link, VXLAN, StepDecision.DROP, nowhere)
        return _dropped(walk, skb, DropCause.VXLAN_NO_REMOTE)
    return _wrap_for_unknown_end(walk, skb, link)


def _emit_external(walk: Walk, skb: Skb, link: Link) -> Next:
    """Wrap a frame toward the end that Cilium's programs say, which nothing shows; without a
    program or a route that says one the kernel drops it, and which there are is not modeled
    (`vxlan_xmit`, VXLAN_F_COLLECT_METADATA). The forwarding entries are not looked at.
    """
    if walk.engine.cilium is None:
        return boundary(walk, skb, BoundaryName.TUNNEL, link.name, "vxlan external")
    return _wrap_for_unknown_end(walk, skb, link)


def _wrap_for_unknown_end(walk: Walk, skb: Skb, link: Link) -> Next:
    unknown = WrappedForUnknownEnd(link.name)
    _record_at(walk, skb, link, VXLAN, StepDecision.ENCAPSULATE, unknown)
    return wire.send(walk, skb, link)


def _remote_end(
    namespace: Namespace, link: Link, details: Vxlan, mac: Mac | None
) -> tuple[Address | None, tuple[Span, ...]]:
    """Return where a frame for a MAC goes, with the line that says so: the last entry of that MAC,
    else of none, else the device's own remote end.
    """
    shown: Link | FdbEntry = link
    remote = details.remote
    if mac is not None:
        entries = _ends(namespace, link, mac) or _ends(namespace, link, NOBODY)
        for shown in entries[-1:]:
            remote = shown.dst
    return remote, (shown.span,) if shown.span is not None else ()


def _ends(namespace: Namespace, link: Link, mac: Mac) -> list[FdbEntry]:
    """Return the forwarding entries of a MAC that lead to a remote end."""
    return [entry for entry in namespace.fdb.get((link.name, mac), ()) if entry.dst is not None]


def _record_at(  # what a step tells
    walk: Walk, skb: Skb, link: Link, function: str, word: StepDecision, reason: Reason
) -> None:
    """Record what a device makes of a packet that it is to send."""
    stage = StageName.DEVICE_TRANSMIT
    walk.trace.step(stage, skb, function, skb.packet, word, reason, link=link.name)


def _dropped(walk: Walk, skb: Skb, cause: DropCause) -> Dropped:
    reason = drop_reason(cause, walk.engine.node.kernel)
    return Dropped(netns=skb.netns.name, reason=reason)


def _source_port(walk: Walk, skb: Skb, limits: tuple[int, int] | None = None) -> int:
    """Return the port that stands for the hash of what is carried, of those within limits, else of
    the namespace's range (`include/net/udp.h:udp_flow_src_port v6.12`).

    A TCP socket's own hash stays with its packets whatever is translated; of all else the headers
    are hashed, both ways alike, and that stays only where they have ports
    (`skb_clear_hash_if_not_l4`): all ICMP between two addresses has one hash.
    """
    packet = skb.packet
    flow = skb.hashed
    if flow is None:
        ports = (packet.sport, packet.dport) if packet.has_ports else (0, 0)
        ends = zip((packet.src, packet.dst), ports, strict=True)
        flow = walk.draws.name_flow(packet.protocol, *ends)
    if packet.has_ports:
        skb.hashed = flow
    return walk.draws.flow_port(flow, limits or _local_ports(skb), EPHEMERAL)


def _local_ports(skb: Skb) -> tuple[int, int]:
    """Return the range that a namespace's programs, and the hashes of flows, get ports from."""
    fact = skb.netns.sysctls.get("net.ipv4.ip_local_port_range")
    words = fact.value.split() if isinstance(fact, Known) else []
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
        return int(words[0]), int(words[1])
    return LOCAL_PORTS


def _outer(packet: Packet, port: int, details: Vxlan, remote: Address) -> Packet:
    source = details.local or _unspecified(remote.family)
    length = packet.length + _HEADERS["vxlan"]
    return Packet(
        source, remote, protocols.UDP, port, details.port, length=length, dont_fragment=False
    )


def emit_geneve(walk: Walk, skb: Skb, link: Link) -> Next:
    """Wrap a frame in UDP toward the one remote end that the device is configured with."""
    details = link.geneve
    if skb.inner is not None:
        return boundary(walk, skb, BoundaryName.CIRCLE, link.name)
    if details is None or details.external or details.remote is None:
        what = "geneve external" if details is not None and details.external else link.kind
        return boundary(walk, skb, BoundaryName.TUNNEL, link.name, what)
    outer = Packet(
        _unspecified(details.remote.family),
        details.remote,
        protocols.UDP,
        _source_port(walk, skb, _ANY_PORT),
        details.port,
        length=skb.packet.length + _HEADERS["geneve"],
        dont_fragment=False,
    )
    return wrap(walk, skb, link, outer, (link.span,) if link.span is not None else ())


def emit_ipip(walk: Walk, skb: Skb, link: Link) -> Next:
    """Wrap a packet in IP, or in GRE, toward the tunnel's remote end, else toward the gateway of
    its route.
    """
    ends = link.ends
    if skb.inner is not None:
        return boundary(walk, skb, BoundaryName.CIRCLE, link.name)
    if ends is not None and ends.external:
        return boundary(walk, skb, BoundaryName.TUNNEL, link.name, f"{link.kind} external")
    fixed = ends.remote if ends is not None else None
    gateway = skb.destination.gateway if skb.destination is not None else None
    remote = fixed or gateway
    if remote is None or (ends is None and link.kind != "ipip"):
        if walk.engine.wires or link.kind != "ipip":
            return boundary(walk, skb, BoundaryName.TUNNEL, link.name, link.kind)
        return wire.send(walk, skb, link)
    if link.kind == "gre" and ends is not None and fixed is None and ends.local is not None:
        # without an entry of its neighbors it sends to itself (`ipgre_header`)
        return boundary(walk, skb, BoundaryName.TUNNEL, link.name, "gre without a remote end")
    inner = skb.packet
    outer = Packet(
        (ends.local if ends is not None else None) or _unspecified(remote.family),
        remote,
        protocols.IPIP if link.kind == "ipip" else protocols.GRE,
        ttl=(ends.ttl if ends is not None else 0) or inner.ttl,
        length=inner.length + _header(link),
    )
    spans = (link.span,) if fixed is not None and link.span is not None else ()
    return wrap(walk, skb, link, outer, spans)


def _header(link: Link) -> int:
    """Return the bytes that a tunnel puts in front."""
    keyed = link.ends is not None and bool(link.ends.sends_key)
    return _HEADERS[link.kind] + (_KEY if keyed else 0)


def _unspecified(family: Family) -> Address:
    return Address(family, 0)


def wrap(walk: Walk, skb: Skb, link: Link, outer: Packet, spans: tuple[Span, ...]) -> Next:
    """Go on with the outer packet: the connection of the inner one is left behind, its mark is not
    (`iptunnel_xmit`).
    """
    inner = skb.packet
    if skb.pieces and (skb.inner_pieces or link.kind == "wireguard"):
        return boundary(walk, skb, BoundaryName.FRAGMENTS, inner.length, link.name)
    shorter = inner.length - skb.frame_length
    skb.packet = outer._replace(length=outer.length - shorter)
    function = IPIP if outer.protocol in _WITHIN_IP else _SENDING.get(link.kind, VXLAN)
    reason = Wrapped(link.name, outer.dst)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        function,
        inner,
        StepDecision.ENCAPSULATE,
        reason,
        spans=spans,
        link=link.name,
    )
    if skb.inner is not None and skb.tunnel is not None:
        skb.wrapped = (*skb.wrapped, (skb.inner, skb.tunnel))
    skb.inner, skb.tunnel = inner, link
    if skb.pieces:
        skb.inner_pieces, skb.pieces = skb.pieces, ()
    skb.longest = 0
    forget_connection(skb)
    skb.iif = skb.oif = skb.physin = skb.physout = skb.port = None
    return OUTPUT


def receive(walk: Walk, skb: Skb) -> Next:
    """Unwrap a tunnel's packet that has come to the address it was sent to: the inner one comes in
    on the tunnel device.
    """
    inner, outer, sender = skb.inner, skb.packet, skb.tunnel
    if inner is None or sender is None:
        return None
    refused = refuse_wrong(walk, skb)
    if refused is not None:
        return refused
    if sender.geneve is not None:
        return _receive_geneve(walk, skb, sender)
    namespace = walk.engine.namespace(skb.netns.name)
    listening = [link for link in namespace.ordered if _listens(link, outer)]
    listening.sort(key=lambda link: link.ends is None or link.ends.remote is None)
    device = next((link for link in listening if _is_of_network(link, sender)), None)
    if device is None:
        return _refuse_network(walk, skb, sender, listening)
    if device.vxlan is not None and inner.smac is not None and inner.smac == device.mac:
        loop = OwnFrameReturned(device.name, device.mac)
        return _refuse(walk, skb, device, loop, DropCause.VXLAN_LOOP, sender.span)
    return unwrap(walk, skb, device, RECEIVED)


def _receive_geneve(walk: Walk, skb: Skb, sender: Link) -> Next:
    """Unwrap by the device of that network and remote end (`geneve_lookup`); what no device has is
    dropped without a word, and a port at which none listens is a socket's.
    """
    outer, sent = skb.packet, sender.geneve
    links = walk.engine.namespace(skb.netns.name).ordered
    shown = [link for link in links if link.kind == "geneve" and link.up]
    if any(link.geneve is None for link in shown):
        return boundary(walk, skb, BoundaryName.TUNNEL, shown[0].name, "geneve")
    held = [(link, link.geneve) for link in links if link.geneve is not None]
    listening = [(link, own) for link, own in held if link.up and own.port == outer.dport]
    if sent is None or any(own.external for _, own in listening):
        return boundary(walk, skb, BoundaryName.TUNNEL, sender.name, "geneve external")
    for link, own in listening:
        if (own.vni, own.remote) == (sent.vni, outer.src):
            return unwrap(walk, skb, link, GENEVE_RECEIVED)
    if listening:
        link, why = _other_geneve(outer, sent.vni, listening)
        return _refuse(walk, skb, link, why, DropCause.TUNNEL_END, sender.span)
    if skb.netns.listens(protocols.UDP, outer.dst, outer.dport):
        return None
    for link, own in held:
        if own.vni == sent.vni:
            closed = TunnelPortClosed(link.name, outer.dport, own.port, link.up)
            return _refuse(walk, skb, link, closed, DropCause.NO_SOCKET, sender.span)
    return None


def _other_geneve(
    outer: Packet, vni: int, listening: Sequence[tuple[Link, Geneve]]
) -> tuple[Link, TunnelFromOther | VniUnknown]:
    """Say of which device a packet nearly is, and why it is not."""
    for link, own in listening:
        if own.vni == vni:
            return link, TunnelFromOther(link.name, outer.src, own.remote or outer.src)
    link, own = listening[0]
    return link, VniUnknown(link.name, vni, own.vni)


def unwrap(walk: Walk, skb: Skb, device: Link, function: str) -> Next:
    """Go on with the inner packet, which comes in on the tunnel's device."""
    inner, outer = skb.inner, skb.packet
    if inner is None:
        return None
    skb.packet = inner
    skb.inner, skb.tunnel = skb.wrapped[-1] if skb.wrapped else (None, None)
    skb.wrapped = skb.wrapped[:-1]
    skb.longest = 0
    if skb.inner is None:
        skb.pieces, skb.inner_pieces = skb.inner_pieces, ()
    skb.link = device
    walk.trace.step(
        StageName.TUNNEL,
        skb,
        function,
        outer,
        StepDecision.DECAPSULATE,
        Unwrapped(device.name),
        link=device.name,
    )
    forget_connection(skb)
    return RECEIVE


def _refuse_network(
    walk: Walk, skb: Skb, sender: Link, listening: Sequence[Link]
) -> Dropped | None:
    """Drop what is of a network that no device has; where none listens at all, it is a socket's."""
    sent = sender.vxlan
    if sent is None:
        return None
    device = next((link for link in listening if link.vxlan is not None), None)
    if device is not None and device.vxlan is not None:
        unknown = VniUnknown(device.name, sent.vni, device.vxlan.vni)
        return _refuse(walk, skb, device, unknown, DropCause.VXLAN_VNI)
    outer = skb.packet
    links = walk.engine.namespace(skb.netns.name).ordered
    closed = next((link for link in links if link.vxlan and link.vxlan.vni == sent.vni), None)
    if closed is None or closed.vxlan is None:
        return None
    other = outer.dport != closed.vxlan.port
    if other and skb.netns.listens(protocols.UDP, outer.dst, outer.dport):
        return None
    port = TunnelPortClosed(closed.name, outer.dport, closed.vxlan.port, closed.up)
    return _refuse(walk, skb, closed, port, DropCause.NO_SOCKET)


def _refuse(
    walk: Walk,
    skb: Skb,
    device: Link,
    reason: VniUnknown | OwnFrameReturned | TunnelPortClosed | TunnelFromOther,
    cause: DropCause,
    other_end: Span | None = None,
) -> Dropped:
    walk.trace.step(
        StageName.TUNNEL,
        skb,
        RECEIVED,
        skb.packet,
        StepDecision.DROP,
        reason,
        spans=tuple(dict.fromkeys(filter(None, (device.span, other_end)))),
        link=device.name,
    )
    return drop_outer(walk, skb, cause)


def _listens(link: Link, outer: Packet) -> bool:
    """Tell whether a tunnel's device takes what comes in on an outer packet's protocol and port."""
    if outer.protocol in _WITHIN_IP:
        return link.kind == _WITHIN_IP[outer.protocol] and link.up and _is_between(link, outer)
    return link.vxlan is not None and link.up and link.vxlan.port == outer.dport


def _is_between(link: Link, outer: Packet) -> bool:
    """Tell whether a device is configured for the ends of a packet (`ip_tunnel_lookup`)."""
    ends = link.ends
    return ends is None or (ends.remote in {None, outer.src} and ends.local in {None, outer.dst})


def _is_of_network(link: Link, sender: Link) -> bool:
    """Tell whether a tunnel's device is of the network of the one that sent; an external one is of
    all (`vxlan_vs_find_vni`).
    """
    if link.vxlan is None or sender.vxlan is None:
        sent = sender.ends.sends_key if sender.ends is not None else ""
        taken = link.ends.takes_key if link.ends is not None else ""
        return link.vxlan is sender.vxlan is None and sent == taken
    return link.vxlan.external or link.vxlan.vni == sender.vxlan.vni
