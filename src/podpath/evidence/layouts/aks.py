"""The log bundle of an AKS node (Azure/AgentBaker, `aks-log-collector.sh`): one node with its
network namespaces.

The rules of nft in a namespace's folder were printed in the host's namespace, since the collector
enters none for them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs

_IN = r"collect/(?:ip_netns_(?P<netns>[^/]+)/)?"

LAYOUT = BundleLayout(
    name="AKS node logs",
    of_node=True,
    empty_tells=True,
    marks=(
        r"collect/ip_4_route\.json", r"collect/ip_link\.json", r"collect/ip_rule\.json",
        r"collect/crictl_pods\.json",
    ),
    needed=2,
    hosts=(HostRule(r"etc/(?:hostname|HOSTNAME)"),),
    rows=(
        LayoutRow(rf"{_IN}ip_(?P<family>[46])_addr\.json", "ip -{family} -d -j addr show"),
        LayoutRow(rf"{_IN}ip_(?P<family>[46])_neighbor\.json", "ip -{family} -d -j neighbor show"),
        LayoutRow(rf"{_IN}ip_4_route\.json", "ip -4 -d -j route show"),
        LayoutRow(rf"{_IN}ip_6_route\.json", "ip -6 -d -j route show table all"),
        LayoutRow(rf"{_IN}ip_link\.json", "ip -d -j link show"),
        LayoutRow(rf"{_IN}ip_rule\.json", "ip -d -j rule show"),
        LayoutRow(rf"{_IN}ip_(?:\d_tcpmetrics|netconf|netns)\.json", how=ReadAs.ASIDE),
        LayoutRow(rf"{_IN}(?P<six>ip6|ip)tables\.txt", "{six}tables -L -vn --line-numbers"),
        LayoutRow(r"collect/(?:ip_netns_[^/]+/)?nftables\.txt", "nft -n list ruleset"),
        LayoutRow(rf"{_IN}conntrack\.txt", "conntrack -L"),
        LayoutRow(rf"{_IN}conntrack_stats\.txt", "conntrack -S"),
        LayoutRow(rf"{_IN}ss\.txt", "ss -anoempiO --cgroup"),
        LayoutRow(rf"{_IN}ss_stats\.txt", how=ReadAs.ASIDE),
        LayoutRow(r"collect/sysctl\.txt", "sysctl -a"),
        LayoutRow(r"collect/crictl_pods\.json", "crictl pods -o json"),
        LayoutRow(r"collect/journalctl_.*", how=ReadAs.LOG),
        LayoutRow(rf"{_IN}[^/]+", how=ReadAs.ASIDE),
        LayoutRow(r"(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)", "cat /{file}"),
        LayoutRow(r"(?P<file>etc/resolv\.conf)", "cat /{file}"),
        LayoutRow(r"(?P<file>proc/net/(?:route|dev|arp|nf_conntrack))", "cat /{file}"),
        LayoutRow(r"(?P<file>proc/modules)", "cat /{file}"),
        LayoutRow(r"(?P<file>proc/version)", "cat /{file}"),
        LayoutRow(r"(?:var/log|var/run)/.*", how=ReadAs.LOG),
        LayoutRow(r"(?:proc|etc|run|var|boot)/.*", how=ReadAs.ASIDE),
    ),
)  # fmt: skip
