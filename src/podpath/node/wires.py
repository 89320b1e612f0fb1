"""The wire between nodes: which devices of theirs are on one network, by the addresses that they
have there.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Span


class WireEnd(NamedTuple):
    """A device by which a node is on a wire."""

    node: str
    netns: str
    link: IfName
    """The device that frames leave by: the port, where the address is on a bridge."""
    address: Address
    span: Span | None = None
    """The line that shows the address."""


class Wire(NamedTuple):
    """A network that several nodes are on; what it does itself (switches, routers, a cloud) no
    evidence of a node shows.
    """

    prefix: Prefix | None
    """The subnet that its ends share; None where routers stand between them."""
    ends: tuple[WireEnd, ...]
    pods: bool = False
    """Whether its routers are taken to know where the pods of its nodes are, as a cloud's do."""

    def others(self, netns: str) -> tuple[WireEnd, ...]:
        """Return the ends that are not in a namespace."""
        return tuple(end for end in self.ends if end.netns != netns)
