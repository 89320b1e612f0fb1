"""The EKS log collector (awslabs/amazon-eks-ami, `eks-log-collector.sh`): one node, its own
namespace alone.

Tables are printed by `iptables --list` with a count of rules below each, and again by
`iptables-save`.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("eks.toml")
