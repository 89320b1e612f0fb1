"""mtu-shrinks: the two ends of the link between nodes have different MTUs.

What it is
    One node sends frames up to its own MTU; the device that receives them on the other node has a
    smaller MTU. There is no router in between, so nothing tells the sender.

Why it breaks
    Small packets pass: the handshake, pings, short requests. Full-sized packets are dropped on
    receipt, and the connection hangs as soon as data flows.

How to confirm
    ip link show dev UPLINK                                   # on both nodes: `mtu`
    ping -M do -s 1472 OTHER-NODE                             # 1472 + 28 = 1500

How to fix
    Set the same MTU on both devices, and on the pods' devices and tunnels an MTU that fits it.

References
    include/linux/netdevice.h:__is_skb_forwardable v6.12; drivers' handling of over-long frames
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.MTU,)
NAME = "mtu-shrinks"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Set the MTU of all nodes' uplinks in one place, and let the plugin derive the MTU of pods and "
    "tunnels from it."
)
