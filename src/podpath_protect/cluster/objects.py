"""What is kept of Kubernetes objects: the few fields that podpath judges by, read straight from
the server's JSON.

A pod is 5 to 20 KB of JSON, of which the managed fields alone are half; what is kept here is below
2 KB, so that the pods of a large cluster fit beside everything else on a node. Field names are the
API's own, in Python's spelling. Fields that a server does not send have the API's defaults; fields
that nobody needs are skipped while they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import NamedTuple

import msgspec

from podpath.kube.objects import Struct


class OwnerReference(Struct, frozen=True, gc=False):
    """Who made an object, and makes it again."""

    kind: str
    name: str
    uid: str = ""
    controller: bool = False


class Metadata(Struct, frozen=True, gc=False):
    """What every object has."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    deletion_timestamp: str | None = None
    """Set when it was asked to go."""


class Terminated(Struct, frozen=True, gc=False):
    """How a container's run ended."""

    exit_code: int
    reason: str = ""
    message: str = ""
    """The termination message: what the container left in its message file."""
    finished_at: str | None = None
    """The server writes null where a kubelet wrote none."""


class Waiting(Struct, frozen=True, gc=False):
    """Why a container does not run yet, or not again."""

    reason: str = ""
    message: str = ""


class Running(Struct, frozen=True, gc=False):
    """A container runs."""


class ContainerState(Struct, frozen=True, gc=False):
    """A container's state: at most one of three; none means that it waits."""

    terminated: Terminated | None = None
    waiting: Waiting | None = None
    running: Running | None = None


class ContainerStatus(Struct, frozen=True, gc=False):
    """What the kubelet says of one container."""

    name: str
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    restart_count: int = 0
    ready: bool = False


class EnvironmentVariable(Struct, frozen=True, gc=False):
    """A variable of a container; its value is empty where it comes from elsewhere."""

    name: str
    value: str = ""


class SecurityContext(Struct, frozen=True, gc=False):
    """As whom a container runs."""

    run_as_user: int | None = None
    """None where the image, or the pod, says so."""


class Container(Struct, frozen=True, gc=False):
    """A container as the pod's author wants it: its name, and what of its surroundings is kept."""

    name: str
    env: tuple[EnvironmentVariable, ...] = ()
    security_context: SecurityContext | None = None


class PodSpec(Struct, frozen=True, gc=False):
    """What a pod's author wants."""

    node_name: str = ""
    host_network: bool = False
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()


class PodAddress(Struct, frozen=True, gc=False):
    """One address of a pod."""

    ip: str = ""


class PodStatus(Struct, frozen=True, gc=False):
    """What the kubelet says of a pod."""

    phase: str = "Pending"
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class KubePod(Struct, frozen=True, gc=False):
    """A pod, as far as podpath judges it."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def key(self) -> str:
        """Return `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the pod's addresses, all families."""
        listed = tuple(each.ip for each in self.status.pod_ips if each.ip)
        return listed or ((self.status.pod_ip,) if self.status.pod_ip else ())


class ListMetadata(Struct, frozen=True, gc=False):
    """Where a page of a list stands."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class PodList(Struct, frozen=True, gc=False):
    """One page of pods."""

    metadata: ListMetadata = ListMetadata()
    items: tuple[KubePod, ...] = ()


class WatchEvent(Struct, frozen=True, gc=False):
    """One line of a watch; what the object is depends on the type."""

    type: str
    object: msgspec.Raw = msgspec.Raw(b"null")


class Bookmark(Struct, frozen=True, gc=False):
    """What a bookmark tells: the resource version that the watch has come to."""

    metadata: ListMetadata = ListMetadata()


class KubeTaint(Struct, frozen=True, gc=False):
    """One taint of a node. `value` and `timeAdded` are kept, so that writing the list back changes
    nobody's.
    """

    key: str
    effect: str = ""
    value: str = ""
    time_added: str | None = None


class NodeSpec(Struct, frozen=True, gc=False):
    """What is asked of a node."""

    taints: tuple[KubeTaint, ...] = ()


class KubeCondition(Struct, frozen=True, gc=False):
    """One condition of a node."""

    type: str
    status: str = "Unknown"


class NodeStatus(Struct, frozen=True, gc=False):
    """What is said of a node."""

    conditions: tuple[KubeCondition, ...] = ()


class KubeNode(Struct, frozen=True, gc=False):
    """A node, as far as its taints and conditions go."""

    metadata: Metadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class KubeConfigMap(Struct, frozen=True, gc=False):
    """A ConfigMap."""

    metadata: Metadata
    data: dict[str, str] = msgspec.field(default_factory=dict)


class KubeLease(Struct, frozen=True, gc=False):
    """A Lease: what agents share stands in its annotations."""

    metadata: Metadata


class MetadataFilter(NamedTuple):
    """Which labels and annotations are kept in memory, None keeps all; and which variables of
    containers.
    """

    labels: frozenset[str] | None = None
    annotations: frozenset[str] | None = frozenset()
    variables: frozenset[str] = frozenset()

    def pod(self, pod: KubePod) -> KubePod:
        """Return the pod without what is not kept, its repeated words stored once."""
        meta = pod.metadata
        return msgspec.structs.replace(
            pod,
            metadata=msgspec.structs.replace(
                meta,
                namespace=intern(meta.namespace),
                labels=_kept(meta.labels, self.labels),
                annotations=_kept(meta.annotations, self.annotations),
            ),
            spec=msgspec.structs.replace(
                pod.spec,
                node_name=intern(pod.spec.node_name),
                init_containers=tuple(map(self._container, pod.spec.init_containers)),
                containers=tuple(map(self._container, pod.spec.containers)),
            ),
        )

    def _container(self, container: Container) -> Container:
        held = [each for each in container.env if each.name in self.variables]
        return Container(
            name=intern(container.name),
            env=tuple(
                EnvironmentVariable(name=intern(each.name), value=intern(each.value))
                for each in held
            ),
            security_context=container.security_context if held else None,
        )


def _kept(words: Mapping[str, str], names: frozenset[str] | None) -> dict[str, str]:
    return {
        intern(name): intern(value)
        for name, value in words.items()
        if names is None or name in names
    }
