"""packet-size: a packet is too big for the device or route it must use.

What it is
    The packet is larger than the MTU of the path ahead and may not be fragmented (DF), like nearly
    all TCP packets.

Why it breaks
    The host drops it and answers "fragmentation needed". If that answer does not reach the sender
    (a firewall drops ICMP, or the sender is behind NAT that lost its entry), the sender keeps
    sending packets of the same size. Handshakes and small answers pass, larger ones hang.

How to confirm
    ping -M do -s SIZE DESTINATION
    ip link; ip route get DESTINATION           # mtu of the route, learned or set

How to fix
    Set the same MTU along the pods' path (the CNI plugin's mtu), let ICMP through, or clamp:
    iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu

References
    ip_forward, ip_exceeds_mtu (net/ipv4/ip_forward.c); RFC 1191; RFC 4821
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.MTU,)
NAME = "packet-size"
"""Seen by walks alone: there is nothing to look for without a packet."""
