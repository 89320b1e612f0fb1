"""What an agent that serves snapshots and drops and whoever asks it agree on: paths, header, the
audience of tokens, and the rights that are asked for.

The API server's pod proxy takes the caller's own credentials off a request, and whoever may use
the proxy may send any other header, those of a front proxy (`X-Remote-User`) too. So the agent
believes neither: it wants a token of its own, which was made for this node alone.
"""

from __future__ import annotations

from podpath.kube.grants import ResourceRight

PORT_NAME = "snapshot"
"""What the container calls the port: a pod with such a port serves snapshots."""
PATH = "/snapshot"
DROPS_PATH = "/drops"
TOKEN_HEADER = "X-Podpath-Token"  # noqa: S105  # a header's name
NAMESPACE = "podpath"
AGENT_LABELS = "app.kubernetes.io/name=podpath-agent"
READER = "podpath-reader"
"""The service account that people borrow for a snapshot."""
MOST_BYTES = 256 << 20
"""Bytes of a packed snapshot that are taken from an agent: 250 pods are 29 MB."""


def audience_of(node: str) -> str:
    """Return the audience of tokens for a node's agent: another node's agent refuses them."""
    return f"podpath.dev/snapshot/{node}"


def right_to(node: str) -> ResourceRight:
    """Return the right that a snapshot of a node needs: `get` on `nodes/snapshot` of `podpath.dev`.

    The group is our own, so that no role that exists grants it by a wildcard on the core's nodes.
    """
    return ResourceRight(
        verb="get", group="podpath.dev", resource="nodes", subresource="snapshot", name=node
    )


def right_to_watch(node: str) -> ResourceRight:
    """Return the right that watching a node's drops needs: `get` on `nodes/drops` of
    `podpath.dev`.
    """
    return ResourceRight(
        verb="get", group="podpath.dev", resource="nodes", subresource="drops", name=node
    )
