"""hairpin: a pod that calls its own service does not get its packets back.

What it is
    A service's endpoint is chosen for a connection that the same pod opened. The packet has to
    leave by the port it came in on.

Why it breaks
    A bridge does not send a frame back out of its port unless the port is in hairpin mode or the
    bridge is promiscuous. And the source must be translated too: else the pod gets a packet from
    its own address, which it drops as a martian.

How to confirm
    bridge -d link show | grep -o 'hairpin [a-z]*'; ip -d link show BRIDGE | grep promiscuity
    iptables -t nat -nvL KUBE-POSTROUTING

How to fix
    ip link set VETH type bridge_slave hairpin on. Keep it so: hairpinMode: true in the bridge
    plugin's configuration (flannel: delegate.hairpinMode), kubelet's old --hairpin-mode.

References
    should_deliver (net/bridge/br_forward.c); kubernetes, "Debug Services": a pod fails to reach
    itself
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.HAIRPIN,)
NAME = "hairpin"
"""Seen by walks alone: there is nothing to look for without a packet."""
