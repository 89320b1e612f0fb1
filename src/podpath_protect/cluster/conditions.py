"""The one condition of a node that is ours, beside the taint: whether what is guarded holds there,
for people and for controllers that read conditions.

A strategic merge patch writes one condition by its type and leaves the others alone
(`NodeCondition`, patchMergeKey=type). What is as it should be is written again only now and then,
as a sign of life: a condition whose heartbeat is old was left by an agent that is gone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from podpath.kube.client import Client
from podpath_protect.cluster.objects import KubeNode
from podpath_protect.plain import plain

TYPE: Final = "PodpathReady"
STRATEGIC_MERGE_PATCH: Final = "application/strategic-merge-patch+json"
LONGEST_MESSAGE: Final = 1024


class NodeStanding(NamedTuple):
    """How a node stands."""

    ready: bool
    why: str


def report(client: Client, node: str, standing: NodeStanding, now: float) -> bool:
    """Write the condition, and tell whether its status changed; `now` is in seconds since 1970."""
    status: Literal["True", "False"] = "True" if standing.ready else "False"
    held = client.read(KubeNode, f"/api/v1/nodes/{node}")
    before = next((each for each in held.status.conditions if each.type == TYPE), None)
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    changed = before is None or before.status != status
    condition = {
        "type": TYPE,
        "status": status,
        "reason": "PathReady" if standing.ready else "PathNotReady",
        "message": plain(standing.why)[:LONGEST_MESSAGE],
        "lastHeartbeatTime": stamp,
        **({"lastTransitionTime": stamp} if changed else {}),
    }
    client.request(
        "PATCH",
        f"/api/v1/nodes/{node}/status",
        body={"status": {"conditions": [condition]}},
        content_type=STRATEGIC_MERGE_PATCH,
    )
    return changed
