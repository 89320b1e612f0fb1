"""no-route: no route leads to the destination, or the winning route ends the packet.

What it is
    The lookup of the destination finds nothing, or a route of type unreachable, prohibit, blackhole
    or throw.

Why it breaks
    The sender gets ENETUNREACH, or an ICMP error from the forwarding host; a blackhole sends
    nothing. Network plugins write blackhole routes for their own address blocks (Calico) and routes
    for each node's range: when the daemon that keeps them (bird, flanneld, cloud controllers) is
    down or late, a node's range has no route, or its packets take the default route.

How to confirm
    ip route get DESTINATION from SOURCE iif DEVICE
    ip rule; ip route show table all

How to fix
    Add the missing route, or remove the one that wins by mistake; then fix the daemon that should
    maintain it.

References
    fib_lookup (include/net/ip_fib.h), fib_table_lookup (net/ipv4/fib_trie.c), ip_route_input_slow
    (net/ipv4/route.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.NO_ROUTE,)
NAME = "no-route"
"""Seen by walks alone: there is nothing to look for without a packet."""
