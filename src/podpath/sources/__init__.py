"""A cluster as evidence: the objects of its API, and snapshots of its nodes from their agents or
from pods that live for one snapshot.

It needs the extra `podpath[k8s]`, and asks through `podpath.kube`.
"""
