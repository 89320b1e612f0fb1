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
from podpath.net.end_names import WORKLOADS, EndName, NameKind, choose, read_ends
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.cluster import move_node
from podpath.node.named_ends import choose_pods, make_probe
from podpath.node.node import HOST, NetnsRole
from podpath.node.objects import ApiObject

_SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""
_ABSENT = "expected a snapshot of this node, which the connection passes; there is none"


class _ObjectKey(NamedTuple):
    namespace: str
    name: str


class ClusterQuestion(NamedTuple):
    """Which connection is asked about."""

    source: str
    destination: str
    protocol: str = ""
    """Empty where nobody says: a port's own, else TCP."""
    near: tuple[str, ...] = ()
    """The Kubernetes namespaces in which a name is looked for first that has none."""

    @property
    def ends(self) -> tuple[str, str]:
        """Return both ends as they are named."""
        return self.source, self.destination


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
    question: ClusterQuestion, nodes: Collection[str], shared: ReadEvidence | None
) -> Iterator[str]:
    """Yield the nodes that the ends' pods and endpoints are on and that are not given, by what the
    API says. A name without a Kubernetes namespace may be that of one in any.
    """
    readings = () if shared is None else shared.readings
    records = [record for _, reading in readings for record in reading.records]
    ends = list(read_ends(question.ends))
    if any(end.kind in WORKLOADS for end in ends):
        objects = [_as_object(one) for one in records if isinstance(one, ApiObjectRecord)]
        ends += (one.pod for one in choose_pods(question.ends, objects, question.near))
    named = _name_objects(ends, question.near, records)
    for record in records:
        for node in _list_nodes(record, named):
            if node and node not in nodes:
                yield node


def _as_object(record: ApiObjectRecord) -> ApiObject:
    return ApiObject(
        kind=record.kind, namespace=record.namespace, name=record.name, tree=record.tree, netns=HOST
    )


class _NamedObjects(NamedTuple):
    """The objects that ends may stand for, by their namespaces and names, and the addresses."""

    pods: frozenset[_ObjectKey]
    services: frozenset[_ObjectKey]
    nodes: frozenset[str]
    addresses: frozenset[str]


def _name_objects(
    ends: Sequence[EndName], near: Collection[str], records: Sequence[Record]
) -> _NamedObjects:
    """Return what ends may stand for."""
    meant = {key for end in ends for key in _list_meant(end, near, records)}
    addresses = {end.name for end in ends if end.kind is NameKind.ADDRESS}
    held = {end.name for end in ends if end.kind is NameKind.CONTAINER}
    ports = {end.port for end in ends if end.port.isdigit()}
    for record in records:
        if isinstance(record, ServiceRecord):
            by_port = any(str(port.node_port) in ports for port in record.ports)
            if by_port or {str(each) for each in record.addresses} & addresses:
                meant.add((NameKind.SERVICE, _key_of(record)))
        elif isinstance(record, ApiObjectRecord) and record.kind == "Pod":
            containers = record.tree.items_at("spec", "containers") if held else ()
            if held & {each.text_at("name") for each in containers}:
                meant.add((NameKind.POD, _key_of(record)))
        elif isinstance(record, ApiObjectRecord) and record.kind == "Node":
            known = record.tree.items_at("status", "addresses")
            if addresses & {each.text_at("address") for each in known}:
                meant.add((NameKind.NODE, _key_of(record)))
    return _NamedObjects(
        pods=_keys_of(NameKind.POD, meant),
        services=_keys_of(NameKind.SERVICE, meant),
        nodes=frozenset(key.name for key in _keys_of(NameKind.NODE, meant)),
        addresses=frozenset(addresses),
    )


def _keys_of(kind: NameKind, meant: Iterable[tuple[NameKind, _ObjectKey]]) -> frozenset[_ObjectKey]:
    return frozenset(key for of, key in meant if of is kind)


def _list_meant(
    end: EndName, near: Collection[str], records: Iterable[Record]
) -> Iterator[tuple[NameKind, _ObjectKey]]:
    """Yield what an end may name; what stands in no namespace that an output tells is of any."""
    known: dict[EndName, _ObjectKey] = {}
    for record in records:
        kind = _kind_of(record)
        if kind is not None and isinstance(record, PodRecord | ServiceRecord | ApiObjectRecord):
            key = _key_of(record)
            space = "" if kind is NameKind.NODE else key.namespace or end.namespace
            known[EndName(kind, key.name, space)] = key
    yield from ((one.kind, known[one]) for one in choose(end, known, near))


def _kind_of(record: Record) -> NameKind | None:
    if isinstance(record, PodRecord):
        return NameKind.POD
    if isinstance(record, ServiceRecord):
        return NameKind.SERVICE
    is_node = isinstance(record, ApiObjectRecord) and record.kind == "Node"
    return NameKind.NODE if is_node else None


def _key_of(record: PodRecord | ServiceRecord | ApiObjectRecord) -> _ObjectKey:
    return _ObjectKey(record.namespace or "", record.name or "")


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


def ask_between(view: NodeView, question: ClusterQuestion) -> Probe:
    """Return the probe of a connection whose ends are named, as one node sees the cluster; a node
    sends from the address that its routes choose.
    """
    source, destination, protocol, near = question
    node, objects = view.case.node, view.own.objects
    probe = make_probe(source, destination, node, objects, protocol, near)
    start = view.case.node.namespaces.get(probe.netns or "")
    is_host = start is not None and start.role == NetnsRole.HOST
    if is_host:
        return bind_source(view.case.node, probe)
    return probe


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
