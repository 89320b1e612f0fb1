"""Wires between nodes."""

from __future__ import annotations

from podpath.net.addresses import Address, IfName
from podpath.node.wires import Wire, WireEnd


def test_the_other_ends_are_those_in_other_namespaces() -> None:
    """A node with two devices on a wire is no neighbor of itself."""
    ends = [
        WireEnd(name, netns, IfName(link), Address.parse("192.0.2.1"))
        for name, netns, link in (("a", "host", "e0"), ("a", "host", "e1"), ("b", "b/host", "e0"))
    ]

    assert Wire(None, tuple(ends)).others("host") == (ends[2],)
