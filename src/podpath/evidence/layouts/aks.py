"""The log bundle of an AKS node (Azure/AgentBaker, `aks-log-collector.sh`): one node with its
network namespaces.

The rules of nft in a namespace's folder were printed in the host's namespace, since the collector
enters none for them.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("aks.toml")
