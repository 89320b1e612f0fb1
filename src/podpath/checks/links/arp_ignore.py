"""arp-ignore: the host does not answer ARP for one of its own addresses.

What it is
    net.ipv4.conf.DEVICE.arp_ignore (or that of `all`; the larger value applies) tells the kernel to
    answer ARP only for addresses of the device that the request comes in on (1), in addition only
    to senders in the same subnet (2), or never (8).

Why it breaks
    Pods whose gateway address is on another device (lo, a dummy device, the node's own card) get no
    answer and reach nothing. The setting is meant for load balancers that hold a service's address
    on lo, and hardening scripts copy it.

How to confirm
    sysctl net.ipv4.conf.all.arp_ignore net.ipv4.conf.DEVICE.arp_ignore
    nsenter -t PID -n ip neigh                 # FAILED or INCOMPLETE for the gateway

How to fix
    sysctl -w net.ipv4.conf.all.arp_ignore=0 (and the same for the device), or put the gateway's
    address on the device that the pods are attached to.

References
    arp_ignore, arp_process (net/ipv4/arp.c); Documentation/networking/ip-sysctl.rst
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.ARP_WRONG_ANSWER, Category.NEIGHBOUR_UNRESOLVED, Category.LOAD_BALANCER)
NAME = "arp-ignore"
"""Seen by walks alone: there is nothing to look for without a packet."""
