"""What netfilter asks of routing: the type of an address, the source address for a device, the way back."""

from __future__ import annotations

from podpath.datapath.skb import Skb, Walk
from podpath.net.addresses import Address
from podpath.node.links import Link
from podpath.node.node import Netns


def address_type(walk: Walk, netns: Netns, address: Address, link: Link | None = None) -> str:
    """Give the type that the local table has for an address: `unicast` where it has none (`inet_dev_addr_type`).

    With a link, `local` and the like count only where the address's route is on that device.
    """
    raise NotImplementedError(walk, netns, address, link)


def select_source(walk: Walk, netns: Netns, link: Link, nexthop: Address | None, scope: str = "global") -> Address | None:
    """Give the address that the host takes as its own on a device towards a next hop (`inet_select_addr`); None without one."""
    raise NotImplementedError(walk, netns, link, nexthop, scope)


def reverse_path(walk: Walk, skb: Skb, *, mark: int, loose: bool, accept_local: bool) -> bool:
    """Tell whether a route leads back to the packet's source as `-m rpfilter` wants it (`rpfilter_lookup_reverse`)."""
    raise NotImplementedError(walk, skb, mark, loose, accept_local)
