"""routing-loop: a packet goes round between devices or hosts until its TTL is used up.

What it is
    A route sends the packet to a next hop, and that one sends it back. Each forwarding takes one
    off the TTL; at 1 the packet is dropped, and its sender is told by ICMP "time exceeded".

Why it breaks
    The packet never arrives. A route of the pods' range over a device that leads back to the host
    does it, and so does a default route to a router that has a route of the range to this host,
    when the pod is gone.

How to confirm
    traceroute -n DESTINATION          # the same two addresses in turn
    ip route get DESTINATION from SOURCE iif DEVICE

How to fix
    Mend the route that sends it back; where the range is this host's, an unreachable route of the
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
