"""pod-route: a node has no route to the pods of another node.

What it is
    Every node routes the pods' range of every other node: to that node's address (host-gw, BGP), or
    into a tunnel. Here the route is missing on one node, or leads to where the pods are not, while
    the way back, or the way to a third node, is there.

Why it breaks
    Packets for those pods take the default route instead. The router there does not know the pods'
    ranges: it drops them, sends them to the internet, or sends them back.

How to confirm
    ip route get POD                                   # on the node: by the default route?
    kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.spec.podCIDR
    kubectl -n kube-flannel logs DAEMON-POD-OF-THAT-NODE

How to fix
    Add the route as the other nodes have theirs, and see why the daemon that keeps it did not
    (flanneld, bird, a cloud's route controller).

References
    flannel pkg/backend/route_network.go; Documentation/backends.md
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.ROUTE_DISTRIBUTION, Category.NO_ROUTE, Category.WRONG_ROUTE)
NAME = "pod-route"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Watch the daemon that keeps the nodes' routes (flanneld, bird), and let it run before pods "
    "are placed on a node."
)
