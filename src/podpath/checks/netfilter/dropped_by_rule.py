"""dropped-by-rule: an iptables rule, or a chain's policy, drops or rejects the packet.

What it is
    The packet reached a matching rule with DROP or REJECT, or the end of a base chain whose policy
    is DROP.

Why it breaks
    DROP is silent: the client waits until it times out. REJECT answers: "connection refused" for a
    TCP reset or an ICMP port unreachable, "no route to host" for other ICMP answers. Rules are
    tried in order, so an accepting rule further up, or the place where a chain is called, decides
    as much as the rule itself.

How to confirm
    # does the rule's counter grow while the client tries?
    iptables -t TABLE -nvL CHAIN --line-numbers
    iptables -t raw -I PREROUTING -s CLIENT -j TRACE; xtables-monitor --trace

How to fix
    Accept the connection in a rule before the one that drops it, or remove that one, and find out
    what writes it. kube-proxy, the CNI plugin and Docker rewrite their rules, so change the policy
    there (a NetworkPolicy, the firewall's zones).

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
