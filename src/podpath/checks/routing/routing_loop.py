"""routing-loop: a packet loops between devices or hosts until its TTL runs out.

What it is
    A route sends the packet to a next hop, and that one sends it back. Each hop decrements the TTL;
    at 1 the packet is dropped, and its sender gets ICMP "time exceeded".

Why it breaks
    The packet never arrives. The cause may be a route for the pods' range through a device that
    leads back to the host, or, once a pod is gone, a default route to a router that routes the
    range to this host.

How to confirm
    traceroute -n DESTINATION          # the same two addresses in turn
    ip route get DESTINATION from SOURCE iif DEVICE

How to fix
    Fix the route that sends it back; if the range is this host's, an unreachable route for the
    whole range ends packets for pods that are gone: ip route add unreachable POD_CIDR metric
    4278198272

References
    ip_forward (net/ipv4/ip_forward.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.ROUTING_LOOP,)
NAME = "routing-loop"
"""Seen by walks alone: there is nothing to look for without a packet."""
