"""address-on-two-nodes: two nodes hold one address of the network between them.

What it is
    A node has, besides its own address, one that another node has: a virtual address that both took
    (two keepalived masters), an address left on a device after a move, a copied configuration.

Why it breaks
    A host does not take packets from an address that it holds itself: it drops what the other node
    sends (martian source), and does not even answer its ARP requests. Others reach one of the two
    by chance.

How to confirm
    ip addr show to ADDRESS                    # on both nodes
    arping -D -I UPLINK ADDRESS                # does somebody else answer?

How to fix
    Remove the address from the node that should not have it, and see what gave it there.

References
    net/ipv4/fib_frontend.c:fib_validate_source v6.12; net/ipv4/arp.c:arp_process v6.12
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "address-on-two-nodes"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Let one program alone give nodes their addresses, and virtual ones only to who is elected."
)
