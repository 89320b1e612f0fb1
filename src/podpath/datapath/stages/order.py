"""The order of stages, as data: for each family the paths through the stack, row by row.

Each row names the stage, the kernel function that it models with the version that it was read from,
and the callable that models it. The driver walks these tables and nothing else; the diagram of the
manual is printed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.datapath.bridging import bridge
from podpath.datapath.stages import devices, forward, local, output, receive, transmit
from podpath.datapath.tracing.paths import (
    BRIDGE,
    EMIT,
    FORWARD,
    LOCAL,
    OUTPUT,
    RECEIVE,
    REDIRECT,
    RESET,
    TRANSMIT,
    Next,
    PathName,
)
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Family


class Stage(NamedTuple):
    """One row."""

    name: str
    function: str
    """`file:function version`, of the kernel."""
    run: Callable[[Walk, Skb], Next]


Path = tuple[Stage, ...]

_BRIDGE: Path = (
    Stage("bridge ingress", "net/bridge/br_input.c:br_handle_frame v6.12", bridge.ingress),
    Stage(
        "bridge PREROUTING",
        "net/bridge/br_netfilter_hooks.c:br_nf_pre_routing v6.12",
        bridge.prerouting,
    ),
    Stage("bridge forwarding", "net/bridge/br_input.c:br_handle_frame_finish v6.12", bridge.decide),
    Stage("bridge FORWARD", "net/bridge/br_netfilter_hooks.c:br_nf_forward v6.12", bridge.forward),
    Stage(
        "bridge POSTROUTING",
        "net/bridge/br_netfilter_hooks.c:br_nf_post_routing v6.12",
        bridge.postrouting,
    ),
)
_EMIT: Path = (Stage("device transmit", "net/core/dev.c:dev_hard_start_xmit v6.12", devices.emit),)

_IPV4: dict[PathName, Path] = {
    RECEIVE: (
        Stage(
            "device receive",
            "net/core/dev.c:__netif_receive_skb_core v6.12",
            receive.receive_device,
        ),
        Stage("PREROUTING", "net/ipv4/ip_input.c:ip_rcv v6.12", receive.prerouting),
        Stage("route input", "net/ipv4/route.c:ip_route_input_slow v6.12", receive.route),
    ),
    LOCAL: (
        Stage("INPUT", "net/ipv4/ip_input.c:ip_local_deliver v6.12", local.input_hook),
        Stage("socket", "net/ipv4/ip_input.c:ip_local_deliver_finish v6.12", local.deliver),
    ),
    FORWARD: (
        Stage("forward", "net/ipv4/ip_forward.c:ip_forward v6.12", forward.check_forward),
        Stage("FORWARD", "net/ipv4/ip_forward.c:ip_forward v6.12", forward.forward_hook),
    ),
    OUTPUT: (
        Stage(
            "connect", "kernel/bpf/cgroup.c:__cgroup_bpf_run_filter_sock_addr v6.12", output.connect
        ),
        Stage("route output", "net/ipv4/route.c:ip_route_output_key_hash_rcu v6.12", output.route),
        Stage("OUTPUT", "net/ipv4/ip_output.c:__ip_local_out v6.12", output.output_hook),
    ),
    TRANSMIT: (
        Stage("POSTROUTING", "net/ipv4/ip_output.c:ip_output v6.12", transmit.postrouting),
        Stage("fragmentation", "net/ipv4/ip_output.c:ip_fragment v6.12", transmit.check_mtu),
        Stage(
            "neighbour", "net/core/neighbour.c:neigh_resolve_output v6.12", transmit.find_neighbour
        ),
        Stage("tc egress", "net/core/dev.c:sch_handle_egress v6.12", transmit.run_egress_programs),
        Stage("device", "net/core/dev.c:__dev_queue_xmit v6.12", transmit.choose_device),
    ),
    REDIRECT: (
        Stage("neighbour", "net/core/filter.c:__bpf_redirect_neigh v6.12", transmit.find_neighbour),
        Stage("tc egress", "net/core/dev.c:sch_handle_egress v6.12", transmit.run_egress_programs),
        Stage("device", "net/core/dev.c:__dev_queue_xmit v6.12", transmit.choose_device),
    ),
    BRIDGE: _BRIDGE,
    EMIT: _EMIT,
    RESET: (
        Stage("route output", "net/ipv4/netfilter.c:ip_route_me_harder v6.12", output.route),
        Stage(
            "bridge port",
            "net/ipv4/netfilter/nf_reject_ipv4.c:nf_send_reset v6.12",
            output.leave_by_port,
        ),
    ),
}

_SIX = {
    "PREROUTING": "net/ipv6/ip6_input.c:ipv6_rcv v6.12",
    "route input": "net/ipv6/route.c:ip6_route_input v6.12",
    "INPUT": "net/ipv6/ip6_input.c:ip6_input v6.12",
    "socket": "net/ipv6/ip6_input.c:ip6_protocol_deliver_rcu v6.12",
    "forward": "net/ipv6/ip6_output.c:ip6_forward v6.12",
    "FORWARD": "net/ipv6/ip6_output.c:ip6_forward v6.12",
    "route output": "net/ipv6/route.c:ip6_route_output_flags v6.12",
    "OUTPUT": "net/ipv6/output_core.c:__ip6_local_out v6.12",
    "bridge port": "net/ipv6/netfilter/nf_reject_ipv6.c:nf_send_reset6 v6.12",
    "POSTROUTING": "net/ipv6/ip6_output.c:ip6_output v6.12",
    "fragmentation": "net/ipv6/ip6_output.c:ip6_fragment v6.12",
}
"""Where IPv6 takes another function for the same stage."""


def _in_ipv6(path: Path) -> Path:
    return tuple(stage._replace(function=_SIX.get(stage.name, stage.function)) for stage in path)


ORDER: Mapping[Family, Mapping[PathName, Path]] = {
    4: _IPV4,
    6: {name: _in_ipv6(path) for name, path in _IPV4.items()},
}
"""By family and path."""
