"""hairpin: a pod that calls its own service does not get its packets back.

What it is
    A connection to a service is sent to the same pod that opened it. The packet has to leave
    through the port it came in on.

Why it breaks
    A bridge does not send a frame back out of its port unless the port is in hairpin mode or the
    bridge is promiscuous. And the source must be translated, too: otherwise the pod gets a packet
    from its own address, which it drops as a martian.

How to confirm
    bridge -d link show | grep -o 'hairpin [a-z]*'; ip -d link show BRIDGE | grep promiscuity
    iptables -t nat -nvL KUBE-POSTROUTING

How to fix
    ip link set VETH type bridge_slave hairpin on. To make it permanent: hairpinMode: true in the
    bridge plugin's configuration (flannel: delegate.hairpinMode), kubelet's old --hairpin-mode.

References
    should_deliver (net/bridge/br_forward.c); kubernetes, "Debug Services": a pod fails to reach
    itself
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.HAIRPIN,)
NAME = "hairpin"
"""Seen by walks alone: there is nothing to look for without a packet."""
