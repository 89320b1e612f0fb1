"""OpenShift's must-gather (openshift/must-gather, and `oc adm inspect`, which writes its objects).

Objects stand by namespace and group. Nodes have outputs under `network_logs` (`NODE_POD_ip_addr`,
of pods in the host's namespace). Under `nodes/NODE`, `ethtool` was run in the namespace of the pod
that collected it: that says nothing of the node. The operator of SR-IOV prints devices of the host,
and addresses of every namespace in one file.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("must_gather.toml")
