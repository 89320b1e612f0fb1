"""untracked: rules that match on connection state drop packets that are exempt from connection
tracking.

What it is
    A rule in the raw table (NOTRACK, CT --notrack) exempts a packet from tracking. For later rules
    it is neither NEW nor ESTABLISHED, and no NAT rule sees it.

Why it breaks
    A firewall that accepts ESTABLISHED and drops the rest drops the replies of exempt connections;
    a service's address is not translated.

How to confirm
    iptables -t raw -S | grep -iE 'notrack'
    iptables -nvL | grep -i ctstate

How to fix
    Exempt both directions, and accept them by address or by --ctstate UNTRACKED; or remove the
    exemption.

References
    xt_ct_target (net/netfilter/xt_CT.c); nf_conntrack_in (net/netfilter/nf_conntrack_core.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.CONNTRACK_INVALID,)
NAME = "untracked"
"""Seen by walks alone: there is nothing to look for without a packet."""
