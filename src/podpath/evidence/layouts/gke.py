"""Logs of GKE nodes: the log dump of Kubernetes' own scripts (kubernetes/kubernetes, `cluster/log-dump`), and node snapshots.

The dump has a folder of logs for each node. `gkectl` and `bmctl` have `nodes/NODE/commands`, files named after what printed them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import How, Layout, Row

_NODE = r"(?P<host>[^/]+)/"

LAYOUT = Layout(
    name="GKE node logs",
    marks=(
        r"[^/]+/serial-1\.log", r"[^/]+/kube-node-(?:installation|configuration)\.log", r"nodes/[^/]+/commands/[^/]+",
    ),
    rows=(
        Row(rf"nodes/{_NODE}commands/(?:.*_)?iptables-save[^/]*", "iptables-save"),
        Row(rf"nodes/{_NODE}commands/[^/]*\b_?ip_(?:addr|route|rule|neigh|link)[^/]*", how=How.SNIFFED),
        Row(rf"nodes/{_NODE}commands/[^/]*(?:iptables|conntrack|sysctl|ipset|nft|ss_)[^/]*", how=How.SNIFFED),
        Row(rf"nodes/{_NODE}files/(?:.*/)?(?P<file>proc/sys/net/.+)", "cat /{file}"),
        Row(rf"nodes/{_NODE}files/(?:.*/)?(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)", "cat /{file}"),
        Row(rf"nodes/{_NODE}.*\.log", how=How.LOG),
        Row(r"nodes/.*", how=How.ASIDE),
        Row(r"kubectlCommands/.*", how=How.SNIFFED),
        Row(rf"{_NODE}[^/]+\.log(?:[.-].*)?", how=How.LOG),
    ),
)  # fmt: skip
