"""Ends of a tunnel that are of different networks, or closed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.between.tunnel_network import NAME
from podpath.node.node import HOST, Node
from tests.checks.between.walked import find, works
from tests.datapath.devices.test_underlay import tunneled


def at_port(node: Node, port: int) -> Node:
    """Return a node whose tunnel device listens at another port, and sends to it."""
    host = node.host
    links = tuple(
        link if link.vxlan is None else replace(link, vxlan=replace(link.vxlan, port=port))
        for link in host.links.items
    )
    changed = replace(host, links=host.links._replace(items=links))
    return replace(node, namespaces={**node.namespaces, HOST: changed})


@pytest.mark.parametrize(
    ("here", "there", "netns"),
    [
        (tunneled(0), tunneled(1, vni=7), "b/host"),
        (tunneled(0, vni=7), tunneled(1), "b/host"),
        (tunneled(0), tunneled(1, state="down"), "b/host"),
        (at_port(tunneled(0), 4789), tunneled(1), "host"),
        (tunneled(0), at_port(tunneled(1), 4789), "host"),
    ],
    ids=["vni there", "vni here", "down", "port here", "port there"],
)
def test_ends_that_do_not_go_together(here: Node, there: Node, netns: str) -> None:
    """The node that receives refuses another network, whichever of the two is wrong; at another
    port it is no tunnel's packet, which the node that wraps it shows.
    """
    found = find(here, there)

    assert found is not None
    assert found[:2] == (NAME, netns)


def test_one_network_and_one_port() -> None:
    """Of whatever number."""
    for pair in (
        (tunneled(0), tunneled(1)),
        (tunneled(0, vni=7), tunneled(1, vni=7)),
        (at_port(tunneled(0), 4789), at_port(tunneled(1), 4789)),
    ):
        assert find(*pair) is None
        assert works(*pair)
