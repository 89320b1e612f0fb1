"""missing-masquerade: a pod's packets leave the node with the pod's own address.

What it is
    No rule translates the source of packets that pods send outside the cluster, so they leave with
    an address that nobody outside can reply to.

Why it breaks
    The packets arrive, but the replies go nowhere (or to another node's pod with the same address).
    Connections to the outside time out, while pods reach each other. A packet that conntrack marks
    INVALID or UNTRACKED is not translated either, whatever the rules say. If the network routes the
    pods' range (BGP, cloud routes), nothing needs to be translated, and this is not a fault.

How to confirm
    iptables -t nat -nvL POSTROUTING
    tcpdump -ni UPLINK net POD_CIDR and not dst net CLUSTER     # private sources on the wire

How to fix
    iptables -t nat -A POSTROUTING -s POD_CIDR ! -d POD_CIDR -j MASQUERADE, or turn on the plugin's
    own: ipMasq (bridge, ptp), --ip-masq (flannel), natOutgoing (Calico), enable-bpf-masquerade or
    enable-ipv4-masquerade (Cilium).

References
    nf_nat_masquerade_ipv4 (net/netfilter/nf_nat_masquerade.c); the ip-masq-agent of Kubernetes
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "missing-masquerade"
"""Seen by walks alone: there is nothing to look for without a packet."""
