"""mtu-shrinks: the devices at the two ends of the wire between nodes differ in MTU.

What it is
    One node sends frames of its own MTU; the device that they come in on at the other node is set
    to a smaller one. Nothing on the way is a router, so nobody tells the sender.

Why it breaks
    Small packets pass: the handshake, pings, short requests. A full one is dropped where it is
    received, and the connection hangs as soon as data flows.

How to confirm
    ip link show dev UPLINK                                   # on both nodes: `mtu`
    ping -M do -s 1472 OTHER-NODE                             # 1472 + 28 = 1500

How to fix
    Give both devices one MTU, and the pods' devices and tunnels one that fits it.

References
    include/linux/netdevice.h:__is_skb_forwardable v6.12; drivers' handling of over-long frames
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.MTU,)
NAME = "mtu-shrinks"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Set the MTU of all nodes' uplinks in one place, and let the plugin derive that of pods and "
    "tunnels."
)
