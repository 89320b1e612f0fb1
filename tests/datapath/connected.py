"""Nodes for tests of whole connections: a pod behind a host with these rules."""

from __future__ import annotations

from dataclasses import replace

from podpath.net import protocols
from podpath.net.provenance import Listing
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node, Socket
from podpath.testing.nodes import (
    Fields,
    forwarding,
    given_netns,
    given_node,
    given_rule,
    probe,
)
from tests.datapath.given import given_rules, given_tables

WORLD = probe("tcp 10.1.0.2 > 203.0.113.9:80")
_LOCAL = ("local default dev lo table 100",)
_PROXY = "PREROUTING -p tcp --dport 80 -j TPROXY --on-port 15001 --tproxy-mark 1"


def given_connected(*texts: str, routes: tuple[str, ...] = (), **pod: object) -> Node:
    """Return a pod behind a host with these tables; `pod` are fields of the pod's namespace."""
    tables = tuple(table for text in texts for table in given_tables(text))
    main = given_netns(
        "host", "eth0 192.0.2.2/24", "lxc1 10.9.0.1/24 peer pod:eth0",
        routes=["10.1.0.2 dev lxc1", "default via 192.0.2.254 dev eth0", *routes],
        sysctls=forwarding(rp_filter="0"),
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True)}},
    )  # fmt: skip
    gateway = ["10.9.0.1 dev eth0 scope link", "default via 10.9.0.1 dev eth0"]
    fields: Fields = dict(pod)
    return given_node(
        main, given_netns("pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=gateway, netns=fields)
    )


def given_proxied(*rules: str, kept: bool = True) -> Node:
    """Return a pod behind a host with a transparent proxy; what is `kept` has a route to it."""
    node = given_connected(
        given_rules(_PROXY, *rules, table="mangle"), routes=_LOCAL if kept else ()
    )
    held = Socket(protocol=protocols.TCP, local=None, port=15001, transparent=True)
    marked = (given_rule("90: from all fwmark 0x1 lookup 100"),) if kept else ()
    host = replace(
        node.host,
        sockets=Listing((held,), True, "ss"),
        rules=node.host.rules._replace(items=(*marked, *node.host.rules.items)),
    )
    return replace(node, namespaces={**node.namespaces, "host": host})
