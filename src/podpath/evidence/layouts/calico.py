"""`calicoctl node diags` and `calicoctl cluster diags` (projectcalico/calico,
`calicoctl/commands`).

The first is one node in one folder, `diagnostics`; the second has a folder for each node, whose
outputs the node's calico-node pod printed, which runs in the host's namespace, and objects of the
cluster.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

NODE = read_layout("calico_node.toml")
CLUSTER = read_layout("calico_cluster.toml")
