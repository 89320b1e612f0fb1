"""Nodes of `tests.datapath.devices.test_underlay` that hold something wrong of each other."""

from __future__ import annotations

from dataclasses import replace

from podpath.net.addresses import Address, Mac
from podpath.node.node import HOST, Netns, Node

WRONG = Mac("02:00:00:00:0f:99")
"""A MAC that no device has."""


def with_entry(node: Node, remote: str, mac: Mac | None = None) -> Node:
    """Return a node whose forwarding entry leads to another address."""
    host = node.host
    entries = tuple(
        replace(entry, dst=Address.parse(remote), mac=mac or entry.mac) for entry in host.fdb.items
    )
    changed = replace(host, fdb=host.fdb._replace(items=entries))
    return replace(node, namespaces={**node.namespaces, HOST: changed})


def with_neighbour(node: Node, remote: str = "192.0.2.2") -> Node:
    """Return a node whose neighbor and forwarding entries have a MAC that nobody has."""
    host = node.host
    items = tuple(replace(entry, mac=WRONG) for entry in host.neighbours.items)
    changed = replace(host, neighbours=host.neighbours._replace(items=items))
    return with_entry(_with_host(node, changed), remote, WRONG)


def as_clone(node: Node, remote: str) -> Node:
    """Return a node whose tunnel device has the MAC that its entries have for the other's."""
    host = with_neighbour(node, remote).host
    items = tuple(
        replace(link, mac=WRONG) if link.vxlan is not None else link for link in host.links.items
    )
    return _with_host(node, replace(host, links=host.links._replace(items=items)))


def _with_host(node: Node, host: Netns) -> Node:
    return replace(node, namespaces={**node.namespaces, HOST: host})
