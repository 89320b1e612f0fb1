"""TCP options and what the route says: `tcp option maxseg size`, `rt mtu`
(net/netfilter/nft_exthdr.c:nft_exthdr_tcp_eval v6.12, net/netfilter/nft_rt.c:nft_rt_get_eval
v6.12).
"""

from __future__ import annotations

from podpath.datapath.netfilter.state import Doubt, HookState
from podpath.datapath.nftables.fields import Field, Value
from podpath.datapath.routing.segment_size import (
    PathMss,
    lower_mss,
    path_mss,
)
from podpath.net import nft

SEGMENT_SIZE = nft.TcpOption("maxseg", "size")
_SHOW_SYN = "tcpdump -v 'tcp[13] & 2 != 0'"


def tcp_option_field(field: nft.TcpOption) -> Field:
    """Return a field of a TCP option; `ValueError` for one that is not modeled."""
    if field != SEGMENT_SIZE:
        raise ValueError(f"expected the option maxseg, saw {field.option} {field.field}".rstrip())
    return Field("integer", _read_segment_size)


def _read_segment_size(state: HookState) -> Value:
    packet = state.skb.packet
    if not packet.may_offer_mss:
        return None
    return packet.mss or Doubt("the MSS that the SYN offers", likely=False, ask=_SHOW_SYN)


def route_field(field: nft.Rt) -> Field:
    """Return what a route says; `ValueError` for what is not modeled."""
    match field.key:
        case "mtu":
            return Field("integer", _read_path_mss)
        case "ip nexthop" | "ip6 nexthop" | "nexthop":
            return Field("ipv6_addr" if "6" in field.key else "ipv4_addr", _read_nexthop)
        case _:
            raise ValueError(f"expected a key of rt that is modeled, saw {field.key}")


def _read_path_mss(state: HookState) -> Value:
    if state.skb.destination is None:
        return None
    found = path_mss(state.walk, state.skb)
    if not found.exact:
        return Doubt("the MTU of the path", likely=False, ask="ip link show; ip route show")
    return found.bytes


def _read_nexthop(state: HookState) -> Value:
    destination = state.skb.destination
    if destination is None:
        return None
    return (destination.gateway or state.skb.packet.dst).value


def set_segment_size(state: HookState, value: int) -> None:
    """Lower the MSS of a SYN that offers one."""
    packet = state.skb.packet
    if packet.may_offer_mss:
        state.skb.packet = lower_mss(packet, PathMss(value))
