"""Logs of GKE nodes: the log dump of Kubernetes' own scripts (kubernetes/kubernetes,
`cluster/log-dump`), and node snapshots.

The dump has a folder of logs for each node. `gkectl` and `bmctl` have `nodes/NODE/commands`, files
named after what printed them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import How, Layout, Row

_NODE = r"(?P<host>[^/]+)/"
_RAN = rf"nodes/{_NODE}commands/(?:sudo_)?"
_END = r"(?:\.txt|\.out)?"

LAYOUT = Layout(
    name="GKE node logs",
    marks=(
        r"[^/]+/serial-1\.log", r"[^/]+/kube-node-(?:installation|configuration)\.log", r"nodes/[^/]+/commands/[^/]+",
    ),
    rows=(
        Row(rf"{_RAN}(?P<six>ip6|ip)tables-save(?:_--counters|_-c)?{_END}", "{six}tables-save -c"),
        Row(rf"{_RAN}ip_(?P<object>addr|link|neigh|rule)(?:_show|_list)?{_END}", "ip {object}"),
        Row(rf"{_RAN}ip_route_(?:list|show)_table_all{_END}", "ip route show table all"),
        Row(rf"{_RAN}ip_route(?:_show|_list)?{_END}", "ip route"),
        Row(rf"{_RAN}sysctl_-a{_END}", "sysctl -a"),
        Row(rf"{_RAN}(?:ip_|ip6_|conntrack|ipset|nft|ss_|iptables|sysctl)[^/]*", how=How.SNIFFED),
        Row(rf"nodes/{_NODE}files/(?:.*/)?(?P<file>proc/sys/net/.+)", "cat /{file}"),
        Row(rf"nodes/{_NODE}files/(?:.*/)?(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)", "cat /{file}"),
        Row(rf"nodes/{_NODE}.*\.log", how=How.LOG),
        Row(r"nodes/.*", how=How.ASIDE),
        Row(r"kubectlCommands/.*", how=How.SNIFFED),
        Row(rf"{_NODE}[^/]+\.log(?:[.-].*)?", how=How.LOG),
    ),
)  # fmt: skip
