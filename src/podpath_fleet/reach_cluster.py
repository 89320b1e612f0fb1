"""What becomes of every flow that starts on some node of a cluster: each is walked from its own
node, over whatever nodes lie between, as `podpath why` walks a single one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from podpath.evidence.kubernetes.records import ApiObjectRecord, PodRecord
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.cluster import ClusterViews, read_nodes
from podpath.library.given import Given
from podpath.library.progress import Progress, silent
from podpath.library.reading import ReadEvidence, gather
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.node.node import Netns, Node
from podpath.report.escape import escape
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.reach_classes import HeaderSpace
from podpath_fleet.reach_space import MOST_WALKS, has_pods, list_spaces, list_unaddressed
from podpath_fleet.reached import SCHEMA, ReachResult, reach_spaces

_WORST = (1, 3, 0)
"""Exit codes, the one that weighs most first."""


@dataclass(frozen=True, slots=True)
class ClusterReach:
    """What becomes of all flows that were asked about, by the nodes on which they start."""

    nodes: Mapping[str, ReachResult]
    absent: tuple[str, ...] = ()
    """Nodes of the cluster that are not given: nothing says what starts, or arrives, there."""
    unasked: tuple[str, ...] = ()
    """Flows of the question that were walked from no node, and why, in words."""

    @property
    def complete(self) -> bool:
        """Tell whether every node is given, every source on one, and every header in a class."""
        told = not self.absent and not self.unasked
        return told and all(one.complete for one in self.nodes.values())

    @property
    def exit_code(self) -> int:
        """Return the exit code of the node that weighs most; 3 in place of 0 where one is
        absent, or a source is on none.
        """
        worst = min((one.exit_code for one in self.nodes.values()), key=_WORST.index)
        return worst or (0 if self.complete else 3)

    def text(self) -> str:
        """Tell of each node what starts there."""
        parts = [f"node {escape(name)}\n{one.text()}" for name, one in self.nodes.items()]
        if self.absent:
            names = ", ".join(map(escape, self.absent))
            parts.append(
                f"UNKNOWN: what starts or arrives on {names}, no snapshot of which is given\n"
            )
        parts += [f"UNKNOWN: {escape(said)}\n" for said in self.unasked]
        return "\n".join(parts)

    def json(self) -> str:
        """Return a document of the schema `podpath/reach/v1`."""
        nodes = [{"node": name, **one.plain()} for name, one in self.nodes.items()]
        document = {
            "schema": SCHEMA,
            "complete": self.complete,
            "nodes": nodes,
            "absent": list(self.absent),
            "unasked": list(self.unasked),
        }
        return json.dumps(document, indent=2) + "\n"


def reach_cluster(
    nodes: Mapping[str, Case | Given],
    question: FlowSet,
    *,
    objects: Given = (),
    lacking: Sequence[str] = (),
    walks: int = MOST_WALKS,
    progress: Progress = silent,
) -> ClusterReach:
    """Enumerate every class of flows that is asked about, from each node on which some start.

    `nodes` and `objects` are as `podpath.why` takes them; `lacking` are nodes that gave nothing.
    What comes from outside (`in DEV`) comes in on that device of every node. A flow to a node that
    is not given ends where it leaves the last one that is.
    """
    if not nodes:
        raise UsageError("expected the evidence of a node: nodes={'node1': 'node1.tar.gz'}")
    shared = gather(objects, progress) if objects != () else None
    cases = read_nodes(nodes, shared, (), progress)
    views = ClusterViews(cases)
    found: dict[str, ReachResult] = {}
    starts = _Starts(question)
    for name in nodes:
        case = Case(nodes=(NodeCase(name=name, facts=views.view_of(name).case),))
        spaces = starts.list_on(name, case.node)
        if spaces or (not question.sources and list_unaddressed(case.node)):
            found[name] = reach_spaces(ReachWalker(case), question, spaces, walks, progress)
    if not starts.met:
        said = f"expected a source on a node that is given ({', '.join(nodes)})"
        raise next(iter(starts.errors.values()), UsageError(said))
    absent = dict.fromkeys((*lacking, *_list_named(shared)))
    unknown = tuple(name for name in absent if name not in nodes)
    unasked = [*starts.list_unasked()]
    if not question.sources:
        unasked += _list_unshown(shared, cases)
    return ClusterReach(found, unknown, tuple(unasked))


class _Starts:
    """Where the sources of a question start. Mutable while node after node is looked at."""

    def __init__(self, question: FlowSet) -> None:
        self._question = question
        self.met: set[str] = set()
        """Sources that start on a node; empty for all pods."""
        self._everywhere: set[str] = set()
        """Sources outside, which come in on every node."""
        self.errors: dict[tuple[str, str], UsageError] = {}
        """Why nothing of a source can be walked on a node."""

    def list_on(self, name: str, node: Node) -> list[HeaderSpace]:
        """Return the sets of headers that start on a node."""
        found: list[HeaderSpace] = []
        for source in self._question.sources or ("",):
            asked = self._question._replace(sources=(source,)) if source else self._question
            try:
                spaces = [one for one in list_spaces(asked, node) if _is_here(one, node)]
            except UsageError as error:
                if source or has_pods(node):
                    self.errors[source, name] = error
                continue
            if spaces:
                self.met.add(source)
            if any(one.sample.in_dev is not None for one in spaces):
                self._everywhere.add(source)
            found += spaces
        return found

    def list_unasked(self) -> Iterator[str]:
        """Yield what of the question no node was asked about: sources that start on none, and what
        can be walked on some nodes alone.
        """
        said = {source: str(error) for (source, _), error in self.errors.items()}
        for source in dict.fromkeys(self._question.sources):
            if source not in self.met:
                why = said.get(source, "it is on no node that is given")
                yield f"what {source} sends: {why}"
        for (source, name), error in self.errors.items():
            if not source or source in self._everywhere:
                yield f"what starts on {name}: {error}"


def _list_named(shared: ReadEvidence | None) -> Iterator[str]:
    """Yield the nodes that the API names: by themselves, or as those of pods."""
    for _, reading in shared.readings if shared is not None else ():
        for record in reading.records:
            if isinstance(record, ApiObjectRecord) and record.kind == "Node" and record.name:
                yield record.name
            elif isinstance(record, PodRecord) and record.node:
                yield record.node


def _list_unshown(shared: ReadEvidence | None, cases: Mapping[str, Case]) -> Iterator[str]:
    """Yield what pods send that run on a given node by what the API says, and of which its snapshot
    has no namespace.
    """
    held = {name: set(map(str, _list_addresses(case.node))) for name, case in cases.items()}
    for _, reading in shared.readings if shared is not None else ():
        for record in reading.records:
            if not isinstance(record, ApiObjectRecord) or record.kind != "Pod":
                continue
            node = record.tree.text_at("spec", "nodeName")
            address = record.tree.text_at("status", "podIP")
            ended = record.tree.text_at("status", "phase") in {"Succeeded", "Failed"}
            if node in held and address and not ended and address not in held[node]:
                name = f"{record.namespace}/{record.name}"
                yield f"what pod {name} sends: no namespace of {node} shows its address {address}"


def _is_here(space: HeaderSpace, node: Node) -> bool:
    """Tell whether flows start on the node at hand: not on one that is joined to it, nor on one
    that is not given.
    """
    probe = space.sample
    if probe.in_dev is not None:
        return True
    owners = (name for name, netns in node.namespaces.items() if _has(netns, probe.src))
    start = node.namespaces.get(probe.netns or next(owners, ""))
    return start is not None and not start.node


def _list_addresses(node: Node) -> Iterator[Address]:
    for netns in node.namespaces.values():
        for item in netns.addresses.items:
            yield item.address


def _has(netns: Netns, address: Address) -> bool:
    return any(item.address == address for item in netns.addresses.items)
