"""The log bundle of an AKS node (Azure/AgentBaker, `aks-log-collector.sh`): one node with its
network namespaces.

The rules of nft in a namespace's folder were printed in the host's namespace, since the collector
enters none for them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import HostRule, How, Layout, Row

_IN = r"collect/(?:ip_netns_(?P<netns>[^/]+)/)?"

LAYOUT = Layout(
    name="AKS node logs",
    of_node=True,
    empty_tells=True,
    marks=(r"collect/ip_4_route\.json", r"collect/ip_link\.json", r"collect/ip_rule\.json", r"collect/crictl_pods\.json"),
    needed=2,
    hosts=(HostRule(r"etc/(?:hostname|HOSTNAME)"),),
    rows=(
        Row(rf"{_IN}ip_(?P<family>[46])_addr\.json", "ip -{family} -d -j addr show"),
        Row(rf"{_IN}ip_(?P<family>[46])_neighbor\.json", "ip -{family} -d -j neighbor show"),
        Row(rf"{_IN}ip_4_route\.json", "ip -4 -d -j route show"),
        Row(rf"{_IN}ip_6_route\.json", "ip -6 -d -j route show table all"),
        Row(rf"{_IN}ip_link\.json", "ip -d -j link show"),
        Row(rf"{_IN}ip_rule\.json", "ip -d -j rule show"),
        Row(rf"{_IN}ip_(?:\d_tcpmetrics|netconf|netns)\.json", how=How.ASIDE),
        Row(rf"{_IN}(?P<six>ip6|ip)tables\.txt", "{six}tables -L -vn --line-numbers"),
        Row(r"collect/(?:ip_netns_[^/]+/)?nftables\.txt", "nft -n list ruleset"),
        Row(rf"{_IN}conntrack\.txt", "conntrack -L"),
        Row(rf"{_IN}conntrack_stats\.txt", "conntrack -S"),
        Row(rf"{_IN}ss\.txt", "ss -anoempiO --cgroup"),
        Row(rf"{_IN}ss_stats\.txt", how=How.ASIDE),
        Row(r"collect/sysctl\.txt", "sysctl -a"),
        Row(r"collect/crictl_pods\.json", "crictl pods -o json"),
        Row(r"collect/journalctl_.*", how=How.LOG),
        Row(rf"{_IN}[^/]+", how=How.ASIDE),
        Row(r"(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)", "cat /{file}"),
        Row(r"(?P<file>etc/resolv\.conf)", "cat /{file}"),
        Row(r"(?P<file>proc/net/(?:route|dev|arp|nf_conntrack))", "cat /{file}"),
        Row(r"(?P<file>proc/modules)", "cat /{file}"),
        Row(r"(?P<file>proc/version)", "cat /{file}"),
        Row(r"(?:var/log|var/run)/.*", how=How.LOG),
        Row(r"(?:proc|etc|run|var|boot)/.*", how=How.ASIDE),
    ),
)  # fmt: skip
