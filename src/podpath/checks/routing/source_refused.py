"""source-refused: the kernel refuses a packet's source or destination address as it comes in.

What it is
    A packet from a device has a source that is the host's own address, loopback, multicast or zero,
    or a destination in 127.0.0.0/8.

Why it breaks
    Such a packet is a martian and is dropped silently when it is routed. The host's own addresses
    come back as sources if an address was added to two hosts, if `ip route add local` names a range
    that others send from, or if NAT did not translate a packet that returns.

How to confirm
    sysctl -w net.ipv4.conf.all.log_martians=1; dmesg | grep martian
    ip route show table local | grep ADDRESS

How to fix
    Remove the address or the local route from the host that should not have it. If the address is
    meant to be on both sides: net.ipv4.conf.DEVICE.accept_local=1; for loopback destinations see
    route-localnet.

References
    ip_route_input_slow (net/ipv4/route.c); fib_validate_source (net/ipv4/fib_frontend.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.REVERSE_PATH_FILTER,)
NAME = "source-refused"
"""Seen by walks alone: there is nothing to look for without a packet."""
