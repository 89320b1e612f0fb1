"""WireGuard: a packet goes to the peer whose allowed IPs hold its destination, and is taken where
both ends know each other's keys and the peer may send from its source.

What is known of keys is what `wg show` prints; without it a walk over several nodes ends here.
Seen on Linux 6.12.117 (drivers/net/wireguard): a missing key, endpoint or allowed IP, a wrong key
or port, and a preshared key that one end alone has, each end the connection; an endpoint that only
one end knows is enough.
"""

from __future__ import annotations

from podpath.datapath.devices import tunnel, wire
from podpath.datapath.icmp import drop_outer
from podpath.datapath.reasons.devices import (
    DeviceReason,
    KeyUnknown,
    NoEndpointOf,
    NoPeerFor,
    PresharedAlone,
    SourceNotAllowed,
    TunnelPortClosed,
)
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, DropCause, StageName, StepDecision
from podpath.datapath.walk.learned import PeerKey
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import list_spans
from podpath.node.links import KeyedPeer, Link, Wireguard

SENT = "drivers/net/wireguard/device.c:wg_xmit v6.12"
RECEIVED = "drivers/net/wireguard/receive.c:wg_packet_consume_data_done v6.12"
_HEADERS = {4: 60, 6: 80}
"""Bytes in front and behind, by the family of the outer packet."""
_BLOCK = 16
"""What is carried is filled up to a multiple of it (`calculate_skb_padding`)."""


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Wrap a packet for the peer that is to have it; where keys are not known it leaves the node,
    or the walk ends.
    """
    device = link.wireguard
    if not walk.engine.wires:
        return wire.send(walk, skb, link)
    if device is None or skb.inner is not None:
        return boundary(walk, skb, BoundaryName.PRIVATE_TUNNEL, link.name, link.kind)
    peer = find_peer(device, skb.packet.dst)
    if peer is None:
        if not device.complete:
            return boundary(walk, skb, BoundaryName.PRIVATE_TUNNEL, link.name, link.kind)
        return _drop(walk, skb, link, NoPeerFor(link.name, skb.packet.dst), None)
    met = walk.learned.endpoints.get(PeerKey(skb.netns.name, link.name, peer.key))
    endpoint, port = met or (peer.endpoint, peer.port)
    if endpoint is None:
        return _drop(walk, skb, link, NoEndpointOf(link.name, peer.key), peer)
    carried = min(-(-skb.packet.length // _BLOCK) * _BLOCK, max(link.mtu, skb.packet.length))
    outer = Packet(
        Address(endpoint.family, 0),
        endpoint,
        protocols.UDP,
        device.port,
        port,
        length=carried + _HEADERS[endpoint.family],
        dont_fragment=False,
    )
    skb.mark = device.mark
    return tunnel.wrap(walk, skb, link, outer, tuple(list_spans((peer,))))


def find_peer(device: Wireguard, address: Address) -> KeyedPeer | None:
    """Return the peer whose allowed IPs hold an address, by the longest prefix."""
    held = [
        (prefix.length, peer)
        for peer in device.peers
        for prefix in peer.allowed
        if prefix.covers(address)
    ]
    if held:
        return max(held, key=lambda pair: pair[0])[1]
    return None


def receive(walk: Walk, skb: Skb, sender: Link) -> Next:
    """Take what comes to a WireGuard device's port from a peer of its; None where a socket has
    it.
    """
    outer, inner, sent = skb.packet, skb.inner, sender.wireguard
    links = walk.engine.namespace(skb.netns.name).ordered
    held = [link for link in links if link.wireguard is not None]
    device = next((link for link in held if _listens(link, outer)), None)
    unknown = any(link.kind == "wireguard" and link.wireguard is None for link in links)
    if inner is None or sent is None or (device is None and unknown):
        return _leave_open(walk, skb, sender)
    if device is None or device.wireguard is None:
        return _refuse_port(walk, skb, held)
    own, target = device.wireguard, find_peer(sent, inner.dst)
    if target is None:
        return _leave_open(walk, skb, sender)
    peer = next((one for one in own.peers if one.key == sent.key), None)
    why = _find_refusal(device, own, target, peer, sent.key)
    if why is not None:
        may_be_listed = peer is None and not own.complete
        is_own_key = isinstance(why, KeyUnknown) and why.is_own
        if may_be_listed and not is_own_key:
            return _leave_open(walk, skb, device)
        return _drop(walk, skb, device, why, target)
    if peer is None or _is_secret(peer, target):
        return _leave_open(walk, skb, device)
    if find_peer(own, inner.src) is not peer:
        return _drop(walk, skb, device, SourceNotAllowed(device.name, inner.src), peer)
    met = PeerKey(skb.netns.name, device.name, peer.key)
    walk.learned.endpoints[met] = (outer.src, outer.sport)
    skb.mark = 0
    return tunnel.unwrap(walk, skb, device, RECEIVED)


def _leave_open(walk: Walk, skb: Skb, device: Link) -> Next:
    """End undecided: what the device knows of its peers is not all shown."""
    return boundary(walk, skb, BoundaryName.PRIVATE_TUNNEL, device.name, device.kind)


def _listens(link: Link, outer: Packet) -> bool:
    return link.up and link.wireguard is not None and link.wireguard.port == outer.dport


def _find_refusal(
    device: Link, own: Wireguard, target: KeyedPeer, peer: KeyedPeer | None, key: str
) -> KeyUnknown | PresharedAlone | None:
    """Return why two ends do not shake hands; None where nothing shows that they would not."""
    if target.key != own.key:
        return KeyUnknown(device.name, target.key, is_own=True)
    if peer is None:
        return KeyUnknown(device.name, key, is_own=False)
    if peer.preshared != target.preshared:
        return PresharedAlone(device.name)
    return None


def _is_secret(peer: KeyedPeer, target: KeyedPeer) -> bool:
    """Tell whether both have a preshared key of which nobody can tell whether it is one."""
    return peer.preshared and not (peer.shook_hands or target.shook_hands)


def _refuse_port(walk: Walk, skb: Skb, held: list[Link]) -> Dropped | None:
    outer = skb.packet
    device = next(iter(held), None)
    if device is None or device.wireguard is None:
        return None
    own = device.wireguard.port
    if own != outer.dport and skb.netns.listens(protocols.UDP, outer.dst, outer.dport):
        return None
    reason = TunnelPortClosed(device.name, outer.dport, own, device.up)
    return _drop(walk, skb, device, reason, None)


def _drop(
    walk: Walk, skb: Skb, link: Link, reason: DeviceReason, peer: KeyedPeer | None
) -> Dropped:
    """Drop a packet, with the lines of the device and of the peer."""
    sending = isinstance(reason, NoPeerFor | NoEndpointOf)
    closed = isinstance(reason, TunnelPortClosed)
    cause = DropCause.NO_SOCKET if closed else DropCause.TUNNEL_END
    placed = [thing for thing in (peer, link.wireguard) if thing is not None]
    spans = tuple(dict.fromkeys(list_spans(placed)))
    walk.trace.step(
        StageName.DEVICE_TRANSMIT if sending else StageName.TUNNEL,
        skb,
        SENT if sending else RECEIVED,
        skb.packet,
        StepDecision.DROP,
        reason,
        spans=spans,
        link=link.name,
    )
    return drop_outer(walk, skb, cause)
