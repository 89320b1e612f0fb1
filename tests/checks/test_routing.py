"""Faults of routing: each is found where it is, and nothing where it only seems to be."""

from __future__ import annotations

import pytest

from podpath.node.node import Node
from tests.checks.nodes import link, netns, node, pod, route
from tests.checks.scenes import findings


def filtered(mode: str, way_back: str) -> Node:
    """Make a host with rp_filter in that mode, and the route back to its pod over that device."""
    outer, inside = pod()
    host = netns(
        links=[outer, link("cni_host")],
        routes=[route("10.0.1.0/24", way_back)],
        sysctls={"net.ipv4.conf.all.rp_filter": mode, "net.ipv4.conf.lxc1.rp_filter": "0"},
    )
    return node(host, inside)


@pytest.mark.parametrize(
    ("mode", "way_back", "count"),
    [("1", "cni_host", 1), ("2", "cni_host", 1), ("0", "cni_host", 0), ("1", "lxc1", 0)],
)
def test_the_reverse_path_filter_is_found_where_the_way_back_is_another(
    mode: str, way_back: str, count: int
) -> None:
    """Strict, or loose on an unnumbered device, with a route back over another device; else
    nothing.
    """
    found = findings(filtered(mode, way_back), "rp-filter")
    assert count == len(found)
    for finding in found:
        assert finding.evidence[0].text == f"net.ipv4.conf.all.rp_filter = {mode}"


def test_a_host_with_pods_that_does_not_forward_is_found() -> None:
    """Without pods nobody needs it to forward."""
    outer, inside = pod()
    off = {"net.ipv4.ip_forward": "0"}
    assert len(findings(node(netns(links=[outer], sysctls=off), inside), "ip-forward")) == 1
    assert findings(node(netns(sysctls=off)), "ip-forward") == []
