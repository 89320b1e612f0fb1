"""What readers of Kubernetes, CNI and Cilium outputs give: typed, tolerant records, each with the
span it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.evidence.records import Record
from podpath.net.addresses import Address
from podpath.net.trees import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class CniRecord(Record):
    """A CNI configuration: a network list, or a single plugin's configuration."""

    name: str | None
    version: str | None
    plugins: tuple[Mapping[str, object], ...]
    single: bool = False
    """True for a `.conf` with one plugin at the top level."""
    fault: str = ""
    """Why a file of the CNI folder is no configuration; empty for one that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CiliumOptionRecord(Record):
    """One option of Cilium, by the key of its ConfigMap (`enable-bpf-masquerade`)."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecord(Record):
    """A Service (`kubectl describe service`)."""

    namespace: str | None
    name: str | None
    type: str | None
    addresses: tuple[Address, ...]
    ports: tuple[ServicePortRecord, ...]


class ServicePortRecord(NamedTuple):
    """One port of a described Service."""

    name: str | None
    protocol: int
    port: int
    target: str | None
    node_port: int | None
    endpoints: tuple[tuple[Address, int], ...]
    more: int
    """How many endpoints the listing left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRecord(Record):
    """A pod (`kubectl describe pod`, `kubectl get pods -o wide`)."""

    namespace: str | None
    name: str | None
    address: Address | None
    node: str | None
    node_address: Address | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    """Annotations, labels and container states that matter, by their Kubernetes names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord(Record):
    """A Kubernetes event."""

    type: str
    reason: str
    age: str | None
    origin: str | None
    object: str | None
    message: str
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiObjectRecord(Record):
    """An object as its API names its fields, whichever output states it; files of configuration are
    objects of a kind of ours.
    """

    kind: str
    """`Service`, `NetworkPolicy`, `IPPool`, ...; `Container` and `Network` of Docker; `Corefile`,
    `ResolvConf`, `SubnetEnv`.
    """
    namespace: str
    """Empty where nothing tells it."""
    name: str
    tree: Tree
