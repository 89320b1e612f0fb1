"""untranslated-reply: the client gets a reply from another address than it sent to.

What it is
    The destination of a connection was rewritten on its way (a service's address to an endpoint's), but its reply came
    back past the place that would have put the first address back.

Why it breaks
    To the client the reply belongs to no connection of its own: TCP answers it with a reset, and goes on sending its
    SYN until it times out. Replies take another way where client and endpoint share a network segment (see
    br-netfilter, hairpin), where routing is asymmetric, or where the conntrack entry is gone.

How to confirm
    tcpdump -ni any host CLIENT              # a SYN-ACK from the endpoint's address, then a reset
    conntrack -L -d SERVICE                  # SYN_SENT [UNREPLIED]

How to fix
    Make the reply take the same way: masquerade the connection, let netfilter see bridged frames, or mend the routes.

References
    nf_nat_manip_pkt (net/netfilter/nf_nat_proto.c); tcp_v4_rcv (net/ipv4/tcp_ipv4.c)
"""

from __future__ import annotations

NAME = "untranslated-reply"
"""Seen by walks alone: there is nothing to look for without a packet."""
