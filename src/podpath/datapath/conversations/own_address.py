"""The address that a host sends from where no program asks for one: the kernel chooses it by the
route, when a socket connects.
"""

from __future__ import annotations

from podpath.datapath.conversations.places import ConnectionEnd
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.output import route_output
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.compiled import Engine
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.node.node import Node

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
    return probe if found.source is None else probe._replace(src=found.source)
