"""Logs of GKE nodes: the log dump of Kubernetes' own scripts (kubernetes/kubernetes,
`cluster/log-dump`), and node snapshots.

The dump has a folder of logs for each node. `gkectl` and `bmctl` have `nodes/NODE/commands`, files
named after what printed them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, LayoutRow, ReadAs

_NODE = r"(?P<host>[^/]+)/"
_RAN = rf"nodes/{_NODE}commands/(?:sudo_)?"
_END = r"(?:\.txt|\.out)?"

LAYOUT = BundleLayout(
    name="GKE node logs",
    marks=(
        r"[^/]+/serial-1\.log", r"[^/]+/kube-node-(?:installation|configuration)\.log",
        r"nodes/[^/]+/commands/[^/]+",
    ),
    rows=(
        LayoutRow(
            rf"{_RAN}(?P<six>ip6|ip)tables-save(?:_--counters|_-c)?{_END}", "{six}tables-save -c",
        ),
        LayoutRow(
            rf"{_RAN}ip_(?P<object>addr|link|neigh|rule)(?:_show|_list)?{_END}", "ip {object}",
        ),
        LayoutRow(rf"{_RAN}ip_route_(?:list|show)_table_all{_END}", "ip route show table all"),
        LayoutRow(rf"{_RAN}ip_route(?:_show|_list)?{_END}", "ip route"),
        LayoutRow(rf"{_RAN}sysctl_-a{_END}", "sysctl -a"),
        LayoutRow(
            rf"{_RAN}(?:ip_|ip6_|conntrack|ipset|nft|ss_|iptables|sysctl)[^/]*", how=ReadAs.SNIFFED,
        ),
        LayoutRow(rf"nodes/{_NODE}files/(?:.*/)?(?P<file>proc/sys/net/.+)", "cat /{file}"),
        LayoutRow(
            rf"nodes/{_NODE}files/(?:.*/)?(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)",
            "cat /{file}",
        ),
        LayoutRow(rf"nodes/{_NODE}.*\.log", how=ReadAs.LOG),
        LayoutRow(r"nodes/.*", how=ReadAs.ASIDE),
        LayoutRow(r"kubectlCommands/.*", how=ReadAs.SNIFFED),
        LayoutRow(rf"{_NODE}[^/]+\.log(?:[.-].*)?", how=ReadAs.LOG),
    ),
)  # fmt: skip
