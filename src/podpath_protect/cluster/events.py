"""Kubernetes Events about pods and nodes: what we are about to do and why, told once and not a
thousand times.

Events are written in `events.k8s.io/v1` (Kubernetes 1.19 and later). The same thing said again of
the same object is suppressed for ten minutes, and counted: a node on which everything fails must
not flood the store that the whole cluster lives on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from podpath.kube.client import Client, Refused
from podpath_protect.cluster.objects import KubePod
from podpath_protect.plain import plain

EVENTS: Final = "/apis/events.k8s.io/v1/namespaces/{namespace}/events"
CONTROLLER: Final = "podpath.dev/protect"
QUIET_SECONDS = 600.0
REMEMBERED = 2048
NOTE, REASON, NAME = 1024, 128, 253
"""The longest that the API takes (staging/src/k8s.io/api/events)."""
INVALID = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class Regarding:
    """What an event is about."""

    kind: str
    name: str
    namespace: str = ""
    """Empty for what has none: such events stand in `default`, or in `kube-system` where the server
    is old.
    """
    uid: str = ""
    version: str = ""
    """The resource version that was judged."""
    api_version: str = "v1"

    @classmethod
    def of_pod(cls, pod: KubePod) -> Regarding:
        """Make it an event about a pod."""
        meta = pod.metadata
        return cls(
            kind="Pod",
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
            version=meta.resource_version,
        )

    @classmethod
    def of_node(cls, name: str) -> Regarding:
        """Make it an event about a node; `kubectl describe node` looks for the node's name as its
        UID.
        """
        return cls(kind="Node", name=name, uid=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeEvent:
    """One thing to tell."""

    regarding: Regarding
    reason: str
    """Why, in CamelCase: `EvictBrokenPod`."""
    action: str
    """What is done: `Evicting`."""
    note: str
    """The sentence for people."""
    type: Literal["Normal", "Warning"] = "Warning"


class Recorder:
    """Publishes events; threads may share it."""

    def __init__(
        self,
        client: Client,
        instance: str,
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        """Speak as `instance`, the name of our pod or node. `clock` runs evenly; `wall` gives
        seconds since 1970.
        """
        self._client, self._instance = client, instance
        self._clock, self._wall, self._draw = clock, wall, draw
        self._told: dict[tuple[str, ...], float] = {}
        self._no_namespace = "default"
        self.published = self.suppressed = 0

    def publish(self, event: KubeEvent) -> bool:
        """Write an event, and tell whether it was; one that was told lately is not told again.
        `KubeError` where it cannot be.
        """
        now = self._clock()
        about = event.regarding
        same = (
            about.kind,
            about.namespace,
            about.name,
            about.uid,
            event.reason,
            event.action,
            event.note,
        )
        if now - self._told.get(same, -QUIET_SECONDS) < QUIET_SECONDS:
            self.suppressed += 1
            return False
        self._write_somewhere(event)
        if len(self._told) >= REMEMBERED:
            self._told = {
                key: then for key, then in self._told.items() if now - then < QUIET_SECONDS
            }
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told[same] = now
        self.published += 1
        return True

    def _write_somewhere(self, event: KubeEvent) -> None:
        if event.regarding.namespace:
            return self._write(event, event.regarding.namespace)
        try:
            return self._write(event, self._no_namespace)
        except Refused as refused:
            if refused.code != INVALID or self._no_namespace == "kube-system":
                raise
        # where servers before 1.22 want what is about objects without a namespace
        self._no_namespace = "kube-system"
        return self._write(event, self._no_namespace)

    def _write(self, event: KubeEvent, namespace: str) -> None:
        about, note = event.regarding, plain(event.note)
        stamp = self._wall()
        suffix = f"{int(stamp * 1e6):x}{int(self._draw() * 0xFFFF):04x}"
        regarding = {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "name": about.name,
            "namespace": about.namespace,
            "uid": about.uid,
            "resourceVersion": about.version,
        }
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": f"{about.name[: NAME - 1 - len(suffix)]}.{suffix}",
                "namespace": namespace,
            },
            "eventTime": datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance[:REASON] or "unknown",
            "action": event.action[:REASON],
            "reason": event.reason[:REASON],
            "regarding": {key: value for key, value in regarding.items() if value},
            "note": note
            if len(note.encode()) <= NOTE
            else note.encode()[: NOTE - 4].decode(errors="ignore") + "…",
            "type": event.type,
        }
        self._client.request("POST", EVENTS.format(namespace=namespace), body=body)
