"""Flows that must and must not connect, over the nodes of a cluster: each is walked from the node
on which it starts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from podpath.checks.policies import KIND as POLICY
from podpath.diagnosis.across import NodeView
from podpath.flows.compared import FlowResult, FlowsAnswer, compare_flows, place_flows
from podpath.flows.derive import derive_flows, emit_flows
from podpath.flows.flow import Flow
from podpath.flows.judged import FlowState, FlowWalk
from podpath.library.case import Case
from podpath.library.cluster import (
    ClusterQuestion,
    ClusterViews,
    list_absent,
    read_nodes,
    starts_on,
)
from podpath.library.flows import (
    ChangeFile,
    FlowsGiven,
    FlowsResult,
    plan_changes,
    read_given_flows,
)
from podpath.library.given import Given
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import ReadEvidence, gather
from podpath.net.counted import count
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.cluster import name_in
from podpath.node.planned import PlannedChange

_HOST = "host"
Placed = tuple[int, Flow, Probe]


def check_cluster(  # noqa: PLR0913  # nodes and flows, and keywords that say what they are
    nodes: Mapping[str, Case | Given],
    flows: FlowsGiven,
    changes: Sequence[str | ChangeFile] = (),
    *,
    objects: Given = (),
    lacking: Sequence[str] = (),
    allow_undecided: bool = False,
    progress: Progress = silent,
) -> FlowsResult:
    """Walk flows over the nodes of a cluster, and compare with what is expected.

    `nodes` and `objects` are as `why` takes them. A change is of the node that it names
    (`rules.v4,node=node1`); a NetworkPolicy and `drain:NODE` are of the cluster. A flow with an end
    on a node that is not given is undecided.
    """
    if not nodes:
        raise UsageError("expected the evidence of a node: nodes={'node1': 'node1.tar.gz'}")
    stated = read_given_flows(flows)
    _refuse_unfit(stated, nodes)
    shared = gather(objects, progress) if objects != () else None
    views = ClusterViews(read_nodes(nodes, shared, (), progress))
    first = views.view_of(next(iter(nodes)))
    placed = place_flows(stated, first.case.node, first.own.objects)
    starts: dict[str, list[Placed]] = {}
    results: dict[int, FlowResult] = {}
    for number, (flow, probe) in enumerate(placed):
        away = _away(flow, nodes, shared, lacking)
        if away:
            results[number] = _leave_open(flow, probe, away)
        else:
            starts.setdefault(starts_on(first, probe), []).append((number, flow, probe))
    planned = _plan(changes, first, nodes)
    with collecting_seldom(), stage(progress, "walking") as tell:
        for name, group in count(tuple(starts.items()), tell):
            view = views.view_of(name)
            results |= _walk_group(view, group, _plan(changes, view, nodes))
    ordered = tuple(results[number] for number in range(len(placed)))
    return FlowsResult(FlowsAnswer(results=ordered, changes=planned), allow_undecided)


def derive_cluster(
    nodes: Mapping[str, Case | Given], *, objects: Given = (), progress: Progress = silent
) -> str:
    """Return a file of the flows that the evidence of all nodes asks for."""
    shared = gather(objects, progress) if objects != () else None
    found: dict[str, Flow] = {}
    for name, case in read_nodes(nodes, shared, (), progress).items():
        for flow in derive_flows(case.facts):
            source = f"node/{name}" if flow.source == _HOST else flow.source
            own = replace(flow, source=source, name=f"{flow.name} (from {name})")
            found.setdefault(own.probe, own)
    return emit_flows(found.values())


def _away(
    flow: Flow, nodes: Mapping[str, object], shared: ReadEvidence | None, lacking: Sequence[str]
) -> tuple[str, ...]:
    """Return the nodes that a flow's ends are on, and that are not given."""
    question = ClusterQuestion(flow.source, flow.target)
    missing = list_absent(question, nodes.keys(), shared)
    named = [name for name in lacking if f"node/{name}" in question.ends]
    return tuple(dict.fromkeys((*missing, *named)))


def _leave_open(flow: Flow, probe: Probe, away: Sequence[str]) -> FlowResult:
    why = f"there is no snapshot of {', '.join(away)}, which it passes"
    walk = FlowWalk(state=FlowState.UNDECIDED, because=why)
    return FlowResult(flow=flow, probe=probe, walk=walk)


def _walk_group(
    view: NodeView, group: Sequence[Placed], planned: Sequence[PlannedChange]
) -> dict[int, FlowResult]:
    """Walk the flows that start on one node, as that node sees the cluster."""
    again = place_flows([flow for _, flow, _ in group], view.case.node, view.own.objects)
    found = compare_flows(view.case, again, planned)
    numbers = (number for number, _, _ in group)
    return dict(zip(numbers, found.results, strict=True))


def _plan(
    changes: Sequence[str | ChangeFile], view: NodeView, nodes: Mapping[str, object]
) -> tuple[PlannedChange, ...]:
    """Read the changes with the names that namespaces have as one node sees them."""
    files = [ChangeFile.parse(one) if isinstance(one, str) else one for one in changes]
    spelled = [_spell(one, view, nodes) for one in files]
    planned = plan_changes(spelled, view.case)
    for given, change in zip(files, planned, strict=True):
        of_cluster = change.drained or all(one.kind == POLICY for one in change.objects)
        unplaced = change.changes or not of_cluster
        if not given.node and unplaced and len(nodes) > 1:
            raise UsageError(
                f"{change.name}: expected the node that it is for: {change.name},node=NAME "
                f"({', '.join(nodes)})"
            )
    return planned


def _spell(given: ChangeFile, view: NodeView, nodes: Mapping[str, object]) -> ChangeFile:
    if not given.node:
        return given
    if given.node not in nodes:
        raise UsageError(f"expected a node that is given ({', '.join(nodes)}), saw {given.node!r}")
    return replace(given, netns=name_in(view.name, given.node, given.netns))


def _refuse_unfit(flows: Sequence[Flow], nodes: Collection[str]) -> None:
    """Raise `UsageError` for flows that a cluster cannot be asked about."""
    for flow in flows:
        if flow.is_set:
            raise UsageError(f"{flow.name}: a set of flows is checked on one node, saw a cluster")
    if len(nodes) > 1 and any(_HOST in (flow.source, flow.target) for flow in flows):
        raise UsageError(f"expected node/NAME for a host of several ({', '.join(nodes)}), saw host")
