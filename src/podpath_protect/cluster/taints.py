"""The one taint of a node that is ours: put there before anything else runs, taken off when the
node is ready, put back when not.

The server knows no way to write one entry of the list alone. So the list is read and written whole
with the version that was read: whoever wrote in between makes the server refuse (409), and it is
read again. Others' taints are never touched, and what is already so is not written.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from podpath.kube.client import MERGE_PATCH, Client, Refused
from podpath_protect.cluster.objects import KubeNode, KubeTaint

NOT_READY: Final = "podpath.dev/not-ready"
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Outcome = Literal["unchanged", "written", "would"]
ATTEMPTS = 5
CONFLICT = 409


def add(
    client: Client,
    node: str,
    *,
    key: str = NOT_READY,
    effect: Effect = "NoSchedule",
    dry_run: bool = False,
) -> Outcome:
    """See to it that a node has our taint once, with this effect."""
    return _settle(client, node, key, KubeTaint(key=key, effect=effect), dry_run=dry_run)


def remove(client: Client, node: str, *, key: str = NOT_READY, dry_run: bool = False) -> Outcome:
    """See to it that a node has no taint of our key, whatever its effect."""
    return _settle(client, node, key, None, dry_run=dry_run)


def _settle(
    client: Client, node: str, key: str, wanted: KubeTaint | None, *, dry_run: bool
) -> Outcome:
    for attempt in range(1, ATTEMPTS + 1):
        held = client.read(KubeNode, _path(node))
        ours = [taint for taint in held.spec.taints if taint.key == key]
        if (wanted is None and not ours) or (
            wanted is not None and [taint.effect for taint in ours] == [wanted.effect]
        ):
            return "unchanged"
        if dry_run:
            return "would"
        others = [taint for taint in held.spec.taints if taint.key != key]
        try:
            _write(client, held, [*others, *([wanted] if wanted is not None else [])])
        except Refused as refused:
            if refused.code != CONFLICT or attempt == ATTEMPTS:
                raise
            continue
        return "written"
    raise AssertionError("the last attempt returns or raises")


def _write(client: Client, held: KubeNode, taints: list[KubeTaint]) -> None:
    body: dict[str, Any] = {
        "metadata": {"resourceVersion": held.metadata.resource_version, "uid": held.metadata.uid},
        "spec": {"taints": [msgspec.to_builtins(taint) for taint in taints] or None},
    }
    client.request("PATCH", _path(held.metadata.name), body=body, content_type=MERGE_PATCH)


def _path(node: str) -> str:
    return f"/api/v1/nodes/{node}"
