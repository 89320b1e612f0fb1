"""What protect does to pods through the API server: read one, label it, evict it, delete it; never
another than was judged.

A pod's name is given again to its successor (StatefulSets), and its state changes while we think.
So eviction and deletion carry the UID and the resource version that were judged, and the server
refuses (409) if either is no longer true. Eviction asks the disruption budgets (429 is their no),
deletion does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from podpath.kube.client import MERGE_PATCH, Client, Refused
from podpath_protect.cluster.objects import KubePod

EVICTIONS: Final = ("policy/v1", "policy/v1beta1")
"""`policy/v1` since Kubernetes 1.22, which ended `policy/v1beta1` with 1.25; what a server does not
know it refuses with 400.
"""
UNKNOWN_VERSION = (400, 404)
ANOTHER: Final = (409, 422)
"""How servers refuse what is meant for a pod of another UID: 422 for a patch (seen on 1.20), 409
otherwise.
"""


def path(pod: KubePod) -> str:
    """Return a pod's path."""
    return f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}"


def read(client: Client, pod: KubePod) -> KubePod | None:
    """Read a pod as it is now; None where it is gone, or another has its name."""
    try:
        now = client.read(KubePod, path(pod))
    except Refused as refused:
        if refused.code == 404:
            return None
        raise
    if now.metadata.uid == pod.metadata.uid:
        return now
    return None


def label(
    client: Client, pod: KubePod, labels: Mapping[str, str | None], *, dry_run: bool = False
) -> None:
    """Set labels of this very pod, or take them off (None); `Refused` with one of `ANOTHER` where
    it is another by now. Through `pods/status`: the server keeps the spec as it is there
    (`pkg/registry/core/pod/strategy.go`), so a token for it changes no image.
    """
    body = {"metadata": {"uid": pod.metadata.uid, "labels": dict(labels)}}
    client.request(
        "PATCH", f"{path(pod)}/status", query=_dry(dry_run), body=body, content_type=MERGE_PATCH
    )


class Evictor:
    """Evicts pods in the newest form that the server knows, and remembers which that is."""

    def __init__(self, client: Client) -> None:
        """Begin with the newest form."""
        self._client = client
        self._known: tuple[str, ...] = EVICTIONS

    @property
    def version(self) -> str:
        """Return the API version that is tried first."""
        return self._known[0]

    def evict(
        self, pod: KubePod, *, grace_seconds: int | None = None, dry_run: bool = False
    ) -> None:
        """Ask that a pod be evicted as it was judged; `Refused` with 429 where a disruption budget
        forbids it now.
        """
        for place, version in enumerate(self._known):
            body = {
                "apiVersion": version,
                "kind": "Eviction",
                "metadata": {"name": pod.metadata.name, "namespace": pod.metadata.namespace},
                "deleteOptions": _options(pod, grace_seconds, dry_run=dry_run),
            }
            try:
                self._client.request(
                    "POST", f"{path(pod)}/eviction", query=_dry(dry_run), body=body
                )
            except Refused as refused:
                last = place == len(self._known) - 1
                if last or refused.code not in UNKNOWN_VERSION or refused.reason == "NotFound":
                    raise
                continue
            self._known = self._known[place:]
            return


def delete(
    client: Client, pod: KubePod, *, grace_seconds: int | None = None, dry_run: bool = False
) -> None:
    """Delete a pod if it is still as it was judged, with its own grace unless another is given."""
    client.request(
        "DELETE", path(pod), query=_dry(dry_run), body=_options(pod, grace_seconds, dry_run=dry_run)
    )


def _options(pod: KubePod, grace_seconds: int | None, *, dry_run: bool) -> dict[str, Any]:
    meta = pod.metadata
    options: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": meta.uid, "resourceVersion": meta.resource_version},
    }
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if dry_run:
        options["dryRun"] = ["All"]
    return options


def _dry(dry_run: bool) -> dict[str, str]:  # noqa: FBT001  # the one thing it is about
    return {"dryRun": "All"} if dry_run else {}
