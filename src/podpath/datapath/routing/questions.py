"""What the rest of the datapath asks of routing: the type of an address, a source address, the way
back, a new route.
"""

from __future__ import annotations

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.assumed import look_up
from podpath.datapath.routing.output import OutputRoute, route_output
from podpath.datapath.routing.source_address import select_address, select_address6
from podpath.datapath.walk.skb import Skb, output_flow
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Known
from podpath.node.links import Link
from podpath.node.node import Netns

_BACK6 = frozenset({"unicast", "multicast"})
"""Types of IPv6 routes that lead back to a source: one that is a group is not refused there
(`net/ipv6/netfilter/nft_fib_ipv6.c:nft_fib6_eval v6.12`).
"""
_REFUSED = {"EINVAL": "blackhole", "EACCES": "prohibit"}
"""Types by what a lookup ends with."""
UNROUTED = frozenset({*_REFUSED.values(), "unreachable"})
"""Types of what no route leads to."""
_RECEIVED = frozenset({"local", "broadcast", "multicast", "anycast"})
"""Types of the local table. The namespace's one trie also finds routes of the main table, which
count as `unicast`.
"""


def address_type(walk: Walk, netns: Netns, address: Address, link: Link | None = None) -> str:
    """Return the type that the local table has for an address: `unicast` where it has none
    (`inet_dev_addr_type`).

    With a link, `local` and the like count only where the address's route is on that device.
    """
    if address.family == 4 and (address.value >> 24 == 0 or address.value == 0xFFFFFFFF):
        return "broadcast"
    if address.is_multicast:
        return "multicast"
    table = walk.engine.namespace(netns.name).routing(address.family).local
    found = table.lookup(address.value, 0, None, ()) if table is not None else None
    if found is None or found.error or found.route is None:
        return "unicast"
    device = found.route.nexthops[0].link if found.route.nexthops else None
    if link is not None and device != link.name:
        return "unicast"
    if found.type in _RECEIVED:
        return found.type
    return "unicast"


def address_type6(walk: Walk, netns: Netns, flow: FlowKey, link: Link | None = None) -> str:
    """Return the type that the route of a flow gives its IPv6 destination: `unreachable` where none
    leads there, `blackhole` or `prohibit` by a route of that type
    (`net/ipv6/netfilter/nft_fib_ipv6.c:__nft_fib6_eval_type v6.12`).

    With a link, an own address is `local` only on that device.
    """
    if flow.dst.is_multicast:
        return "multicast"
    namespace = walk.engine.namespace(netns.name)
    own = namespace.by_link.get(link.name, ()) if link is not None else ()
    found = look_up(walk.choices, namespace, flow)
    if found.error or found.route is None:
        return _REFUSED.get(found.error, "unreachable")
    if found.type == "anycast":
        return found.type
    if link is None and found.type == "local":
        return found.type
    if any(item.address == flow.dst for item in own):
        return "local"
    return "unspec" if flow.dst.is_unspecified else "unicast"


def select_source(
    walk: Walk, netns: Netns, link: Link, nexthop: Address | None, scope: str = "global"
) -> Address | None:
    """Return the address that the host takes as its own on a device toward a next hop
    (`inet_select_addr`); None without one.
    """
    namespace = walk.engine.namespace(netns.name)
    if nexthop is not None and nexthop.family == 6:
        return select_address6(namespace, link, nexthop)
    chosen = select_address(namespace, link, nexthop, scope)
    return chosen.address if chosen is not None else None


def reverse_path(
    walk: Walk, skb: Skb, *, mark: int, loose: bool, accept_local: bool, protocol: int = 0
) -> bool:
    """Tell whether a route leads back to the packet's source as `-m rpfilter` wants it
    (`rpfilter_lookup_reverse`).

    With a protocol, policy rules that ask for it count: nftables' `fib` gives it to the lookup,
    iptables does not.
    """
    packet, link = skb.packet, skb.iif
    if link is None or link.name == "lo" or _asks_for_an_address(packet):
        return True
    dst = packet.dst if not (packet.dst.is_multicast or packet.dst.value == 0xFFFFFFFF) else None
    # a link-local address is one of the device that it came in on (rpfilter_lookup_reverse6)
    device = link.name if packet.src.family == 6 and is_of_link(packet.src) else None
    flow = FlowKey(packet.src, dst, "lo", device, mark, packet.tos, protocol)
    found = look_up(
        walk.choices, walk.engine.namespace(skb.netns.name), flow, ignore_linkstate=True
    )
    if found.error or found.route is None:
        return False
    back = _BACK6 if packet.src.family == 6 else {"unicast"}
    if found.type not in back and not (found.type == "local" and accept_local):
        return False
    return loose or any(hop.link == link.name for hop in found.route.nexthops)


def _asks_for_an_address(packet: Packet) -> bool:
    """Tell whether a packet without a source, as of DHCP, passes unasked (`rpfilter_mt`,
    `nft_fib4_eval`; kernels before 4.11 looked its source up).
    """
    local = packet.dst.value == 0xFFFFFFFF or packet.dst.value >> 8 == 0xE00000
    return packet.family == 4 and packet.src.value >> 24 == 0 and local


def is_of_link(address: Address) -> bool:
    """Tell whether an IPv6 address is one of a link, or a group on it (`ipv6_addr_type`)."""
    return address.is_link_local or address.value >> 112 & 0xFF0F == 0xFF02


def reroute(walk: Walk, skb: Skb) -> OutputRoute:
    """Route a packet of this host again after OUTPUT changed it; its source address stays
    (`ip_route_me_harder`). IPv4 forgets who sends it: policy rules see the user 0.
    """
    packet = skb.packet
    kind = address_type(walk, skb.netns, packet.src)
    source = packet.src if kind in {"local", "unicast"} else None
    flow = output_flow(skb, source)
    if packet.family == 4:
        flow = flow._replace(uid=0)
    elif skb.oif is not None and (packet.dst.is_link_local or packet.dst.is_multicast):
        # such an address is one of its device (net/ipv6/netfilter.c:ip6_route_me_harder v6.12)
        flow = flow._replace(oif=flow.oif or skb.oif.name)
    return route_output(walk.choices, walk.engine.namespace(skb.netns.name), flow, any_source=True)


def error_source(walk: Walk, skb: Skb) -> Address:
    """Return the source that an ICMP error is routed with (`icmp_send`): the host's address that
    the packet was for, in IPv4 any that a route gave to the host (RTCF_LOCAL), else none.

    With none (all zeros) routing chooses it, and policy rules on the source do not see it.
    """
    packet, given = skb.packet, skb.destination
    route = given.route if given is not None and given.type == "local" else None
    # a route of before NAT is none of the packet's any more
    taken = packet.family == 4 and route is not None and route.prefix.covers(packet.dst)
    if taken or address_type(walk, skb.netns, packet.dst) == "local":
        return packet.dst
    if packet.family == 6:
        return _error_source6(walk, skb) or Address(6, 0)
    inbound = skb.netns.sysctls.get("net.ipv4.icmp_errors_use_inbound_ifaddr")
    if skb.iif is not None and isinstance(inbound, Known) and inbound.value == "1":
        chosen = select_address(walk.engine.namespace(skb.netns.name), skb.iif, packet.src, "link")
        if chosen is not None:
            return chosen.address
    return Address(packet.family, 0)


def _error_source6(walk: Walk, skb: Skb) -> Address | None:
    """Return the address of the device that the packet came in on, unless the way back has a source
    of its own; None where routing chooses (`net/ipv6/icmp.c:icmp6_send v6.12`).
    """
    link = skb.oif if skb.routed_early else skb.iif
    if link is None:
        return None
    namespace = walk.engine.namespace(skb.netns.name)
    flow = FlowKey(skb.packet.src, None, protocol=protocols.ICMPV6)
    found = look_up(walk.choices, namespace, flow)
    if found.route is not None and found.route.prefsrc is not None:
        return None
    return select_address6(namespace, link, skb.packet.src)
