"""Logs of GKE nodes: the log dump of Kubernetes' own scripts (kubernetes/kubernetes,
`cluster/log-dump`), and node snapshots.

The dump has a folder of logs for each node. `gkectl` and `bmctl` have `nodes/NODE/commands`, files
named after what printed them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("gke.toml")
