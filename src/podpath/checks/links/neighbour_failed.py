"""neighbour-failed: the next hop does not answer ARP.

What it is
    The packet has a route, but the MAC address of its next hop cannot be resolved: the neighbor
    entry is FAILED or INCOMPLETE.

Why it breaks
    The packet waits in the entry's queue and is dropped when the last request goes unanswered; the
    sender gets "no route to host". The next hop is down or in another VLAN; or it refuses to answer
    (arp_ignore, arp_filter, or its reverse-path filter, which also drops ARP requests); or the
    route names the wrong device.

How to confirm
    ip neigh show ADDRESS
    tcpdump -n -e -i DEVICE arp

How to fix
    Find where the request is lost. On the host that should answer: sysctl
    net.ipv4.conf.DEVICE.rp_filter, arp_ignore, arp_filter; for bridges: bridge fdb show, bridge
    vlan show.

References
    neigh_timer_handler, __neigh_event_send (net/core/neighbour.c); arp_process (net/ipv4/arp.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.NEIGHBOUR_UNRESOLVED,)
NAME = "neighbour-failed"
"""Seen by walks alone: there is nothing to look for without a packet."""
