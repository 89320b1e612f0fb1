"""dropped-by-rule: a rule of iptables, or a chain's policy, ends the packet.

What it is
    The packet came to a rule with DROP or REJECT that matched it, or to the end of a base chain
    whose policy is DROP.

Why it breaks
    DROP is silent: the client waits until it times out. REJECT answers: "connection refused" for a
    TCP reset or an ICMP port unreachable, "no route to host" for other ICMP answers. The rules are
    asked in order, so a rule further up that accepts, or the place where a chain is called, decides
    as much as the rule itself.

How to confirm
    # does the rule's counter grow while the client tries?
    iptables -t TABLE -nvL CHAIN --line-numbers
    iptables -t raw -I PREROUTING -s CLIENT -j TRACE; xtables-monitor --trace

How to fix
    Accept the connection by a rule before the one that drops it, or take that one out; and find out
    who writes it. Rules of kube-proxy, the CNI plugin and Docker are written again by their owner,
    so change the policy there (a NetworkPolicy, the firewall's zones).

References
    ipt_do_table (net/ipv4/netfilter/ip_tables.c); iptables-extensions(8)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (
    Category.HOST_FIREWALL,
    Category.NETWORK_POLICY,
    Category.RULE_ORDER,
    Category.CONNTRACK_INVALID,
    Category.FORWARD_POLICY,
)
NAME = "dropped-by-rule"
"""Seen by walks alone: there is nothing to look for without a packet."""
