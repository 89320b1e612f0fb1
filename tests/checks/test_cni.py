"""Faults of network plugins: each is found where it is, and nothing where it only seems to be."""

from __future__ import annotations

from dataclasses import replace

from podpath.node.node import CniNetwork, Node
from tests.checks.nodes import netns, node, span
from tests.checks.scenes import findings


def networks(*files: tuple[str, tuple[str, ...]]) -> Node:
    """Make a node with these files in net.d."""
    made = tuple(
        CniNetwork(
            path=f"/etc/cni/net.d/{name}",
            name="k8s",
            version="1.0.0",
            plugins=plugins,
            span=span(name),
        )
        for name, plugins in files
    )
    return replace(node(netns()), cni=made)


def test_a_mesh_plugin_outside_of_the_loaded_file_is_found() -> None:
    """The runtime takes the first file by name."""
    raced = networks(
        ("05-net.conflist", ("calico",)), ("10-net.conflist", ("calico", "linkerd-cni"))
    )
    chained = networks(
        ("05-net.conflist", ("calico", "linkerd-cni")), ("10-net.conflist", ("calico",))
    )
    assert len(findings(raced, "cni-chain")) == 1
    assert findings(chained, "cni-chain") == []
