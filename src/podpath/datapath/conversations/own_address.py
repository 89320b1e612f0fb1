"""The address that a host sends from where no program asks for one: the kernel chooses it by the
route, when a socket connects.
"""

from __future__ import annotations

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.output import route_output
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.compiled import Engine
from podpath.net.probe import Probe
from podpath.node.node import Node


def bind_source(node: Node, probe: Probe) -> Probe:
    """Return the probe with the source that its namespace's routes choose (`ip_route_connect`); as
    it is where they lead nowhere, or say none.
    """
    if probe.netns is None or probe.netns not in node.namespaces:
        return probe
    flow = FlowKey(probe.dst, protocol=probe.protocol, dport=probe.dport)
    found = route_output(Choices(), Engine(node).namespace(probe.netns), flow)
    return probe if found.source is None else probe._replace(src=found.source)
