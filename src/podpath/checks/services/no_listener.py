"""no-listener: the packet arrives, but nothing listens on its port.

What it is
    The destination namespace accepts the packet but has no socket for it.

Why it breaks
    TCP is answered with a reset ("connection refused"), UDP with ICMP port unreachable. The network
    is fine. The program is not up yet, listens only on 127.0.0.1, or on a port other than the
    service's targetPort.

How to confirm
    ss -tulnp        # in the destination's namespace: nsenter -t PID -n ss -tulnp

How to fix
    Let the program listen on 0.0.0.0 (or ::) and on the port that the service names.

References
    tcp_v4_rcv (net/ipv4/tcp_ipv4.c), __udp4_lib_rcv (net/ipv4/udp.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.NO_LISTENER, Category.WRONG_PORT)
NAME = "no-listener"
"""Seen by walks alone: there is nothing to look for without a packet."""
