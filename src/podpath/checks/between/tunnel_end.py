"""tunnel-end: a tunnel sends to an address that is not the other node's.

What it is
    The forwarding entry behind a VXLAN device says under which address of the nodes' network a
    remote end is reached. The entry here leads to another address: the node was renumbered, or has
    several addresses and its daemon announced the wrong one.

Why it breaks
    The outer packet goes to a host that is none of the nodes, or to the wrong one; the pods behind
    the tunnel never see it.

How to confirm
    bridge fdb show dev DEVICE                                 # on the node that sends: `dst`
    kubectl get node NAME -o jsonpath='{.status.addresses} {.metadata.annotations}'

How to fix
    Write the entry with the node's address; let the daemon announce the right one (flannel's
    --iface or public-ip annotation, Calico's IP_AUTODETECTION_METHOD).

References
    drivers/net/vxlan/vxlan_core.c:vxlan_find_mac v6.12; flannel pkg/backend/vxlan
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.TUNNEL_ENDPOINT,)
NAME = "tunnel-end"
"""Seen by walks over several nodes alone."""
PREVENTION = "Say which device or address the plugin announces, where nodes have several."
