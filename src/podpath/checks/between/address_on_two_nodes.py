"""address-on-two-nodes: two nodes hold the same IP address on the network between them.

What it is
    A node has, besides its own address, an address that another node also has: a virtual IP that
    both claimed (two keepalived masters), an address left on a device after a move, or a copied
    configuration.

Why it breaks
    A host does not accept packets whose source is one of its own addresses: it drops what the other
    node sends (martian source) and does not answer its ARP requests. Everyone else reaches one of
    the two nodes, whichever answered ARP last.

How to confirm
    ip addr show to ADDRESS                    # on both nodes
    arping -D -I UPLINK ADDRESS                # does another host answer?

How to fix
    Remove the address from the node that should not have it, and find out what assigned it.

References
    net/ipv4/fib_frontend.c:fib_validate_source v6.12; net/ipv4/arp.c:arp_process v6.12
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "address-on-two-nodes"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Let a single program assign addresses to nodes, and virtual IPs only to the elected master."
)
