"""The address that a host sends from where no program asks for one: the kernel chooses it by the
route, when a socket connects, and when a server that is bound to any address sends a datagram.
"""

from __future__ import annotations

from podpath.datapath.conversations.places import ConnectionEnd
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.output import route_output
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Option
from podpath.node.node import Netns, Node

_LOOPBACK = {4: Address(4, 127 << 24 | 1), 6: Address(6, 1)}


def connect_to_self(client: ConnectionEnd, probe: Probe) -> Probe:
    """Return a probe of the node to no address as one to the sender itself: the source that it is
    bound to, else the loopback address (`ip_route_output_key_hash_rcu`, `tcp_v6_connect`).
    """
    if client.link is not None or not probe.dst.is_unspecified:
        return probe
    family = probe.src.family
    own = _LOOPBACK[family] if family == 6 or probe.src.is_unspecified else probe.src
    return probe._replace(dst=own)


def bind_source(node: Node, probe: Probe) -> Probe:
    """Return the probe with the source that its namespace's routes choose (`ip_route_connect`); as
    it is where they lead nowhere, or say none.
    """
    if probe.netns is None or probe.netns not in node.namespaces:
        return probe
    flow = FlowKey(probe.dst, protocol=probe.protocol, dport=probe.dport)
    found = route_output(Choices(), Engine(node).namespace(probe.netns), flow)
    if found.source is None:
        return probe
    return probe._replace(src=found.source)


def answer_source(walk: Walk, server: ConnectionEnd, asked: Packet) -> Address:
    """Return the address from which a server answers a packet: of TCP the one that was asked. A
    program at a UDP port that `ss` shows bound to any address may leave it to the route
    (`net/ipv4/udp.c:udp_sendmsg v6.12`), unless it looks where each datagram was for (IP_PKTINFO).
    """
    netns = walk.engine.node.namespaces[server.netns]
    within = server.link is None and asked.protocol == protocols.UDP
    if not within or not _is_wildcard(netns, asked):
        return asked.dst
    flow = FlowKey(asked.src, protocol=protocols.UDP, sport=asked.dport, dport=asked.sport)
    routed = route_output(walk.choices, walk.engine.namespace(netns.name), flow).source
    if routed is None or routed == asked.dst:
        return asked.dst
    options = (
        Option(True, f"it answers from {asked.dst}"),
        Option(False, f"it leaves its source to the route, which has {routed}"),
    )
    ask = f"tcpdump -nni any udp port {asked.dport}"
    keeps = walk.choices.choose(name_answering(asked.dport), options, ask=ask)
    return asked.dst if keeps else routed


def name_answering(port: int) -> str:
    """Name the fact that a UDP server looks where a datagram was for."""
    return f"the program at UDP port {port} answers from the address that it was asked at"


def _is_wildcard(netns: Netns, asked: Packet) -> bool:
    """Tell whether a listed socket of any address takes a datagram, and none of its own address."""
    bound = [
        socket.local
        for socket in netns.sockets.items
        if socket.has_port(asked.protocol, asked.dport)
    ]
    return asked.dst not in bound and any(each is None or each.is_unspecified for each in bound)
