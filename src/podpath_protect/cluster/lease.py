"""The Lease by which all agents of a cluster share one budget: read, decided, patched with the
version that was read.

Whoever wrote in between makes the server refuse (409), and it is read again: no two agents spend
one token. An answer that is lost costs its token and grants nothing. The Lease itself is created
by who deploys the agent; where it is missing or may not be patched, nothing is granted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeVar

from podpath.kube.client import MERGE_PATCH, Client, KubeError, Refused, decode
from podpath_protect.cluster import shared
from podpath_protect.cluster.limits import ClusterLimits, SharedAction
from podpath_protect.cluster.objects import KubeLease
from podpath_protect.cluster.shared import SharedState, Stored

T = TypeVar("T")
ANNOTATION: Final = "podpath.dev/budget"
CONFLICT: Final = 409


class LeaseBudget:
    """One agent's hand on the shared budget. Threads may share it: each change is its own."""

    def __init__(
        self, client: Client, limits: ClusterLimits, node: str, wall: Callable[[], float]
    ) -> None:
        """Keep the way; nothing is asked yet. `wall` returns seconds since 1970."""
        self._client, self._limits, self._node, self._wall = client, limits, node, wall
        namespace, _, name = limits.lease.partition("/")
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"

    def spend(self, action: SharedAction, space: str) -> float:
        """Take a token for a namespace and return 0; or take nothing and return the seconds to
        wait. `PodpathError` where it cannot be told.
        """
        return self._settle(
            lambda state, now: shared.spend(state, self._limits, action, space, now)
        )

    def refund(self, action: SharedAction, space: str) -> None:
        """Put a token back, as far as the server can be asked: one that is lost was spent."""
        try:
            self._settle(lambda state, now: shared.refund(state, self._limits, action, space, now))
        except (KubeError, shared.Contended):
            return

    def hold(self) -> bool:
        """Take or renew this node's place for its taint; false where all are taken."""
        return self._settle(lambda state, now: shared.hold(state, self._limits, self._node, now))

    def release(self) -> None:
        """Give this node's place back."""
        self._settle(lambda state, _: shared.release(state, self._node))

    def _settle(self, decide: Callable[[SharedState, float], tuple[SharedState, T]]) -> T:
        def decided(text: str) -> tuple[str, T]:
            now = self._wall()
            before = shared.parse_state(text, self._limits, now)
            after, answer = decide(before, now)
            return (text if after == before else shared.emit_state(after)), answer

        steps = shared.change(decided)
        asked = next(steps)
        while True:
            held = self._read() if isinstance(asked, shared.Read) else self._write(asked)
            try:
                asked = steps.send(held)
            except StopIteration as end:
                answer: T = end.value
                return answer

    def _read(self) -> Stored:
        return _stored(self._client.read(KubeLease, self._path))

    def _write(self, asked: shared.Write) -> Stored | None:
        said = datetime.fromtimestamp(self._wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        body = {
            "metadata": {
                "resourceVersion": asked.version,
                "annotations": {ANNOTATION: asked.text},
            },
            "spec": {"holderIdentity": self._node, "renewTime": said},
        }
        try:
            content = self._client.request("PATCH", self._path, body=body, content_type=MERGE_PATCH)
        except Refused as refused:
            if refused.code == CONFLICT:
                return None
            raise
        return _stored(decode(KubeLease, content, self._path))


def _stored(lease: KubeLease) -> Stored:
    return Stored(lease.metadata.resource_version, lease.metadata.annotations.get(ANNOTATION, ""))
