"""tunnel-mac: a node sends to a tunnel's end under a MAC that it does not have.

What it is
    Behind a VXLAN device, each node has neighbors and forwarding entries of the other nodes' tunnel
    ends, written by a daemon. The entry here has a MAC that the other node's device does not have:
    the device was recreated there, or the entry is of a node that is gone.

Why it breaks
    The packet reaches the other node and is unwrapped. The frame inside is for another MAC, so the
    node drops it silently (OTHERHOST).

How to confirm
    ip neigh show dev DEVICE; bridge fdb show dev DEVICE       # on the node that sends
    ip -d link show dev DEVICE                                 # on the node that receives

How to fix
    Write the neighbor and forwarding entries with the MAC that the other node's device has; restart
    the daemon that keeps them, so that it publishes the MAC of today.

References
    net/ethernet/eth.c:eth_type_trans v6.12; drivers/net/vxlan/vxlan_core.c:vxlan_rcv v6.12; flannel
    pkg/backend/vxlan
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.TUNNEL_ENDPOINT,)
NAME = "tunnel-mac"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Let the daemon keep the tunnel device (flannel does), instead of recreating it by hand or at "
    "each start."
)
