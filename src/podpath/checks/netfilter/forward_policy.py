"""forward-policy: the FORWARD chain's policy drops what no rule accepted.

What it is
    Chain FORWARD of table filter has the policy DROP, and no rule in it accepts the pods' packets.

Why it breaks
    Docker sets the policy to DROP when it starts, and accepts only what goes to and from its own
    bridges. The pods of another network plugin then lose every packet that the host forwards,
    unless kube-proxy (given the cluster's range), the plugin or an administrator accepts them. It
    shows up after a restart of Docker or a reboot, when the start order changes.

How to confirm
    iptables -S FORWARD | head -1
    iptables -nvL FORWARD | head -1               # the packet count of the policy grows

How to fix
    iptables -P FORWARD ACCEPT, or accept the pods' range: iptables -I FORWARD -s POD_CIDR -j ACCEPT
    and the same with -d. To make it permanent: Docker's daemon.json `"ip-forward-no-drop": true`,
    or --cluster-cidr for kube-proxy.

References
    Docker's documentation, "Packet filtering and firewalls"; ipt_do_table
    (net/ipv4/netfilter/ip_tables.c)
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "forward-policy"
"""Seen by walks alone: there is nothing to look for without a packet."""
