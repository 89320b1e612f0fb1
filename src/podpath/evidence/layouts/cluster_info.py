"""`kubectl cluster-info dump --output-directory`: objects of the cluster, a folder for each
namespace, and logs of pods.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import read_layout

LAYOUT = read_layout("cluster_info.toml")
