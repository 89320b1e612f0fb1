"""Several nodes as a caller gives them: each read with what the API says, the nodes that are
missing, and all of them as one sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.datapath.conversations.own_address import bind_source
from podpath.diagnosis.across import NodeView, see_from
from podpath.evidence.gathered import make_gap
from podpath.evidence.kubernetes.records import ApiObjectRecord, PodRecord, ServiceRecord
from podpath.evidence.records import Record
from podpath.library.case import Case
from podpath.library.given import Given
from podpath.library.progress import Progress
from podpath.library.reading import ReadEvidence, read
from podpath.net.end_names import EndName, NameKind, parse_end
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.cluster import move_node
from podpath.node.named_ends import make_probe
from podpath.node.node import NetnsRole

_SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""
_ABSENT = "expected a snapshot of this node, which the connection passes; there is none"


class _ObjectKey(NamedTuple):
    namespace: str
    name: str


class ClusterViews:
    """All nodes as each of them sees them, made when one is first asked for."""

    def __init__(self, cases: Mapping[str, Case]) -> None:
        """Take the nodes' cases by their names."""
        self._facts = {name: case.facts for name, case in cases.items()}
        self._sources = {name: frozenset(case.sources) for name, case in cases.items()}
        self._views: dict[str, NodeView] = {}
        self._moved = {name: move_node(name, case.node) for name, case in self._facts.items()}

    def view_of(self, name: str) -> NodeView:
        """Return all nodes as this one sees them."""
        if name not in self._views:
            self._views[name] = see_from(self._facts, self._sources, name, self._moved)
        return self._views[name]


def read_nodes(
    nodes: Mapping[str, Case | Given],
    shared: ReadEvidence | None,
    absent: Sequence[str],
    progress: Progress,
) -> Mapping[str, Case]:
    """Read each node's evidence together with what is of no node; that of `absent` is a gap."""
    if absent:
        missing = _say_absent(absent)
        shared = missing if shared is None else shared.beside(missing)
    return {name: _read_node(name, given, shared, progress) for name, given in nodes.items()}


def list_absent(
    ends: Sequence[str], nodes: Collection[str], shared: ReadEvidence | None
) -> Iterator[str]:
    """Yield the nodes that the ends' pods and endpoints are on and that are not given, by what the
    API says. A name without a Kubernetes namespace may be that of one in any.
    """
    readings = () if shared is None else shared.readings
    records = [record for _, reading in readings for record in reading.records]
    named = _name_objects(tuple(map(parse_end, ends)), records)
    for record in records:
        for node in _list_nodes(record, named):
            if node and node not in nodes:
                yield node


class _NamedObjects(NamedTuple):
    """The objects that ends may stand for, by their namespaces and names, and the addresses."""

    pods: frozenset[_ObjectKey]
    services: frozenset[_ObjectKey]
    nodes: frozenset[str]
    addresses: frozenset[str]


def _name_objects(ends: Sequence[EndName], records: Sequence[Record]) -> _NamedObjects:
    """Return what ends may stand for."""
    pods: set[_ObjectKey] = set()
    services: set[_ObjectKey] = set()
    nodes: set[str] = set()
    addresses = {end.name for end in ends if end.kind is NameKind.ADDRESS}
    held = {end.name for end in ends if end.kind is NameKind.CONTAINER}
    ports = {end.port for end in ends if end.port.isdigit()}
    for record in records:
        if isinstance(record, PodRecord):
            key = _key_of(record)
            if _is_meant(record, NameKind.POD, ends):
                pods.add(key)
        elif isinstance(record, ServiceRecord):
            key = _key_of(record)
            by_name = _is_meant(record, NameKind.SERVICE, ends)
            by_port = any(str(port.node_port) in ports for port in record.ports)
            if by_name or by_port or {str(each) for each in record.addresses} & addresses:
                services.add(key)
        elif isinstance(record, ApiObjectRecord) and record.kind == "Pod":
            containers = record.tree.items_at("spec", "containers") if held else ()
            if held & {each.text_at("name") for each in containers}:
                pods.add(_ObjectKey(record.namespace, record.name))
        elif isinstance(record, ApiObjectRecord) and record.kind == "Node":
            known = record.tree.items_at("status", "addresses")
            by_address = addresses & {each.text_at("address") for each in known}
            if by_address or any(end.may_name(NameKind.NODE, "", record.name) for end in ends):
                nodes.add(record.name)
    return _NamedObjects(
        frozenset(pods), frozenset(services), frozenset(nodes), frozenset(addresses)
    )


def _key_of(record: PodRecord | ServiceRecord) -> _ObjectKey:
    return _ObjectKey(record.namespace or "", record.name or "")


def _is_meant(record: PodRecord | ServiceRecord, kind: NameKind, ends: Iterable[EndName]) -> bool:
    """Tell whether an end may name an object; one whose namespace no output tells is of any."""
    return any(
        end.may_name(kind, record.namespace or end.namespace, record.name or "") for end in ends
    )


def _list_nodes(record: Record, named: _NamedObjects) -> Iterator[str | None]:
    """Yield the nodes that a pod, or a service's endpoints, are on if they are named."""
    if isinstance(record, PodRecord):
        if _key_of(record) in named.pods or str(record.address) in named.addresses:
            yield record.node
    elif isinstance(record, ApiObjectRecord) and record.kind in {"Endpoints", "EndpointSlice"}:
        tree = record.tree
        owner = tree.text_at("metadata", "labels", _SERVICE_NAME) or record.name
        if _ObjectKey(record.namespace, owner) in named.services:
            for subset in tree.items_at("subsets"):
                yield from (each.text_at("nodeName") for each in subset.items_at("addresses"))
            yield from (each.text_at("nodeName") for each in tree.items_at("endpoints"))
    elif isinstance(record, ApiObjectRecord) and record.kind == "Node":
        yield record.name if record.name in named.nodes else None


def _say_absent(names: Sequence[str]) -> ReadEvidence:
    """Return evidence of which there is nothing: what these nodes would say."""
    gaps = [make_gap(f"node {name}", _ABSENT) for name in names]
    sources = tuple(gap.span.source for gap in gaps)
    return ReadEvidence(sources=sources, readings=(), gaps=tuple(gaps), kept=())


def _read_node(
    name: str, given: Case | Given, shared: ReadEvidence | None, progress: Progress
) -> Case:
    """Read one node's evidence together with what the API says."""
    found = given if isinstance(given, Case) else read(given, shared=shared, progress=progress)
    if len(found.nodes) > 1:
        names = ", ".join(node.name for node in found.nodes)
        raise UsageError(f"expected evidence of one node for {name}, saw that of {names}")
    return found


def ask_between(view: NodeView, source: str, destination: str, protocol: str = "") -> Probe:
    """Return the probe of a connection whose ends are named, as one node sees the cluster; a node
    sends from the address that its routes choose.
    """
    probe = make_probe(source, destination, view.case.node, view.own.objects, protocol)
    start = view.case.node.namespaces.get(probe.netns or "")
    is_host = start is not None and start.role == NetnsRole.HOST
    return bind_source(view.case.node, probe) if is_host else probe


def starts_on(view: NodeView, probe: Probe) -> str:
    """Return the node that a connection starts on; of one from outside, the one that it comes
    to.
    """
    node = view.case.node
    if probe.netns is not None and probe.netns in node.namespaces:
        return node.namespaces[probe.netns].node or view.name
    for address in (probe.src, probe.dst):
        for netns in node.namespaces.values():
            if any(item.address == address for item in netns.addresses.items):
                return netns.node or view.name
    return view.name
