"""Why one end of a cluster cannot reach another: nodes and objects read, the connection walked over
all of them, and answered from the node where it breaks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from podpath.diagnosis.across import NodeView, diagnose_across, see_from, touched
from podpath.diagnosis.verdict import Verdict
from podpath.evidence.gathered import make_gap
from podpath.evidence.kubernetes.records import ApiObjectRecord, PodRecord, ServiceRecord
from podpath.evidence.records import Record
from podpath.library.case import Case
from podpath.library.diagnosis import DiagnosisResult
from podpath.library.given import Given
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import ReadEvidence, gather, read
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.named_ends import make_probe

_SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""
_ABSENT = "expected a snapshot of this node, which the connection passes; there is none"


@dataclass(frozen=True, slots=True, repr=False)
class WhyResult(DiagnosisResult):
    """The answer of `why`."""

    probe: Probe
    """The connection that was walked."""
    nodes: tuple[str, ...]
    """The nodes that it passes, the one that it starts on first."""


def why(  # noqa: PLR0913  # two ends, and keywords that say what they are
    source: str,
    destination: str,
    *,
    nodes: Mapping[str, Case | Given],
    objects: Given = (),
    protocol: str = "",
    lacking: Sequence[str] = (),
    progress: Progress = silent,
) -> WhyResult:
    """Find out why one end cannot reach another, in whatever nodes lie between.

    Ends are as users say them: `pod/shop/web-0`, `svc/shop/api:http`, `shop/web-0`, `node/node1`,
    an address with or without a port, `outside`. `nodes` is the evidence of each node by its name
    (a snapshot), `objects` what the cluster's API says (`kubectl get -A -o yaml
    pods,services,...`). `lacking` are nodes that the connection may pass and whose evidence could
    not be had: without them nothing is cleared, as it is not where the objects say that an end's
    pod is on a node that is not given.
    """
    if not nodes:
        raise UsageError("expected the evidence of a node: nodes={'node1': 'node1.tar.gz'}")
    shared = gather(objects, progress) if objects != () else None
    absent = dict.fromkeys((*lacking, *_list_absent((source, destination), nodes, shared)))
    if absent:
        missing = _say_absent(tuple(absent))
        shared = missing if shared is None else shared.beside(missing)
    cases = {name: _read_node(name, given, shared, progress) for name, given in nodes.items()}
    with collecting_seldom(), stage(progress, "walking"):
        return _answer(cases, source, destination, protocol)


def _list_absent(
    ends: Sequence[str], nodes: Collection[str], shared: ReadEvidence | None
) -> Iterator[str]:
    """Yield the nodes that the ends' pods and endpoints are on and that are not given, by what the
    API says.
    """
    readings = () if shared is None else shared.readings
    records = [record for _, reading in readings for record in reading.records]
    bare = {end.partition("/")[2] if end.startswith(("pod/", "svc/")) else end for end in ends}
    named = bare | {end.rpartition(":")[0] for end in bare}
    for record in records:
        if isinstance(record, ServiceRecord) and {str(each) for each in record.addresses} & named:
            named.add(f"{record.namespace}/{record.name}")
    for record in records:
        for node in _list_nodes(record, named):
            if node and node not in nodes:
                yield node


def _list_nodes(record: Record, named: Collection[str]) -> Iterator[str | None]:
    """Yield the nodes that a pod, or a service's endpoints, are on if they are named."""
    if isinstance(record, PodRecord):
        if f"{record.namespace}/{record.name}" in named or str(record.address) in named:
            yield record.node
    elif isinstance(record, ApiObjectRecord) and record.kind in {"Endpoints", "EndpointSlice"}:
        tree = record.tree
        owner = tree.text_at("metadata", "labels", _SERVICE_NAME) or record.name
        if f"{record.namespace}/{owner}" in named:
            for subset in tree.items_at("subsets"):
                yield from (each.text_at("nodeName") for each in subset.items_at("addresses"))
            yield from (each.text_at("nodeName") for each in tree.items_at("endpoints"))


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


def _answer(cases: Mapping[str, Case], source: str, destination: str, protocol: str) -> WhyResult:
    facts = {name: case.facts for name, case in cases.items()}
    sources = {name: frozenset(case.sources) for name, case in cases.items()}
    views: dict[str, NodeView] = {}

    def view_of(name: str) -> NodeView:
        if name not in views:
            views[name] = see_from(facts, sources, name)
        return views[name]

    def ask(view: NodeView) -> Probe:
        return make_probe(source, destination, view.case.node, view.own.objects, protocol)

    first = next(iter(cases))
    start = _starts_on(view_of(first), ask(view_of(first)))
    probe = ask(view_of(start))
    passed = touched(view_of(start), probe)
    asked = [(view_of(name), ask(view_of(name))) for name in passed or (start,)]
    answer = diagnose_across(asked)
    if answer.verdict is Verdict.POSSIBLE:
        beyond = [(view_of(name), ask(view_of(name))) for name in cases if name not in passed]
        found = diagnose_across(beyond) if beyond else answer
        answer = found if found.verdict is Verdict.FAULT else answer
    return WhyResult(answer, probe, passed)


def _starts_on(view: NodeView, probe: Probe) -> str:
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
