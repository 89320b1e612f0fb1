"""What may mend a cause: candidate changes to the node, each with the commands that make them.

Nothing here is believed before it is proven: `proof` walks the node with each candidate and keeps
what delivers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from podpath.checks.between import (
    address_on_two_nodes,
    mtu_shrinks,
    pod_ranges_overlap,
    pod_route,
    tunnel_end,
    tunnel_mac,
    tunnel_network,
)
from podpath.checks.captures import untranslated_reply
from podpath.checks.cause import Cause
from podpath.checks.conntrack import stale_conntrack, untracked
from podpath.checks.finding import Repair
from podpath.checks.host import switches
from podpath.checks.links import arp_ignore, neighbour_failed
from podpath.checks.netfilter import (
    bridge_netfilter,
    chain_order,
    dropped_by_rule,
    forward_policy,
    hairpin,
    missing_masquerade,
    route_localnet,
)
from podpath.checks.routing import ip_forward, no_route, routing_loop, rp_filter, source_refused
from podpath.checks.tunnels import vtep_mac_twice
from podpath.diagnosis import (
    repairs_between,
    repairs_native,
    repairs_routes,
    repairs_rules,
    repairs_settings,
)
from podpath.diagnosis.difference.difference import inside
from podpath.node.change import LoadModule, SetCiliumOption
from podpath.node.node import HOST, NetnsRole, Node

Generator = Callable[[Node, Cause], Iterator[Repair]]


def list_repairs(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the candidates for a cause, the least invasive first."""
    for generate in _GENERATORS.get(cause.check, ()):
        yield from (_typed_on_host(node, repair) for repair in generate(node, cause))


def _typed_on_host(node: Node, repair: Repair) -> Repair:
    """Let commands that change another namespace enter it from the host."""
    changed = [change for change in repair.changes if not isinstance(change, NODE_WIDE)]
    netns = changed[0].netns if changed else HOST
    return replace(repair, commands=tuple(_enter(node, netns, one) for one in repair.commands))


def _enter(node: Node, netns: str, command: str) -> str:
    """Return a command as it is typed on the host: a pod's namespace, which a snapshot calls by the
    pod's name, is found by the runtime.
    """
    found = node.namespaces.get(netns)
    pod = next((pod for pod in node.pods if pod.netns == netns), None)
    if found is not None and found.role == NetnsRole.HOST:
        return command
    plain = pod is not None and all(map(_PLAIN.fullmatch, (pod.namespace, pod.name)))
    if pod is None or not plain or netns.startswith(_NAMED):
        return inside(netns, command)
    sandbox = f"$(crictl pods -q --state Ready --namespace {pod.namespace} --name '^{pod.name}$')"
    pid = f"$(crictl inspectp -o go-template --template '{{{{.info.pid}}}}' {sandbox})"
    return f"nsenter -n -t {pid} {command}"


_PLAIN = re.compile(r"[a-z0-9][a-z0-9.-]*")
"""Names that a shell reads as one word."""
_NAMED = "cni-"
"""How namespaces begin that plugins name, and `ip netns` lists."""


NODE_WIDE = (LoadModule, SetCiliumOption)
"""Changes that are made in no namespace."""


_GENERATORS: dict[str, tuple[Generator, ...]] = {
    chain_order.NAME: (repairs_rules.reorder_or_accept,),
    dropped_by_rule.NAME: (repairs_rules.reorder_or_accept, repairs_native.delete_rule),
    untracked.NAME: (repairs_rules.reorder_or_accept,),
    forward_policy.NAME: (repairs_rules.accept_by_policy,),
    missing_masquerade.NAME: (repairs_rules.masquerade_marked, repairs_rules.masquerade),
    hairpin.NAME: (repairs_settings.switch_hairpin_on, repairs_rules.masquerade_home),
    rp_filter.NAME: (repairs_settings.switch_filter_off,),
    arp_ignore.NAME: (repairs_settings.answer_arp,),
    bridge_netfilter.NAME: (repairs_settings.let_bridge_be_seen,),
    untranslated_reply.NAME: (repairs_settings.let_bridge_be_seen,),
    ip_forward.NAME: (repairs_settings.let_host_forward,),
    route_localnet.NAME: (repairs_settings.let_loopback_in,),
    switches.PINGS_IGNORED: (repairs_settings.answer_pings,),
    stale_conntrack.NAME: (repairs_settings.forget_connection,),
    source_refused.NAME: (repairs_routes.delete_local_routes, repairs_settings.let_own_source_in),
    pod_route.NAME: (repairs_between.route_to_pods, repairs_routes.mend_routes),
    tunnel_mac.NAME: (repairs_between.rewrite_tunnel_mac,),
    tunnel_end.NAME: (repairs_between.rewrite_tunnel_end,),
    tunnel_network.NAME: (repairs_between.bring_tunnel_up, repairs_between.recreate_tunnel),
    address_on_two_nodes.NAME: (repairs_between.give_up_address,),
    mtu_shrinks.NAME: (repairs_between.widen_mtu,),
    no_route.NAME: (repairs_rules.delete_translation, repairs_routes.mend_routes),
    neighbour_failed.NAME: (repairs_rules.delete_translation,),
    routing_loop.NAME: (repairs_routes.mend_routes,),
}

PREVENTIONS: dict[str, str] = {
    pod_ranges_overlap.NAME: pod_ranges_overlap.PREVENTION,
    **{one.NAME: one.PREVENTION for one in (pod_route, tunnel_mac, tunnel_end, tunnel_network)},
    mtu_shrinks.NAME: mtu_shrinks.PREVENTION,
    vtep_mac_twice.NAME: vtep_mac_twice.PREVENTION,
    address_on_two_nodes.NAME: address_on_two_nodes.PREVENTION,
    stale_conntrack.NAME: stale_conntrack.PREVENTION,
    chain_order.NAME: chain_order.PREVENTION,
    rp_filter.NAME: rp_filter.PREVENTION,
    bridge_netfilter.NAME: bridge_netfilter.PREVENTION,
    untranslated_reply.NAME: (
        "Make the reply take the same way back: by the routes of the server's node, or by "
        "masquerading the connection where it is translated."
    ),
    ip_forward.NAME: ip_forward.PREVENTION,
    arp_ignore.NAME: (
        "Put `net.ipv4.conf.all.arp_ignore = 0` in a file in /etc/sysctl.d that sorts last."
    ),
    dropped_by_rule.NAME: (
        "Find what writes the rule (kube-proxy, the CNI plugin, Docker, a firewall) and change it "
        "there."
    ),
    forward_policy.NAME: (
        'Keep Docker from setting it: `"ip-forward-no-drop": true` in daemon.json, or accept the '
        "pods' range."
    ),
    hairpin.NAME: (
        "Set hairpinMode in the CNI plugin's configuration, and let kube-proxy masquerade such "
        "connections."
    ),
    no_route.NAME: (
        "Fix the daemon that maintains the pods' routes (bird, flanneld, the cloud's controller)."
    ),
    missing_masquerade.NAME: (
        "Let the program whose rule it is write it (the CNI plugin by ipMasq or natOutgoing, "
        "kube-proxy by its restart), so that it comes back after a flush."
    ),
}
"""How a cause is kept from coming back."""
