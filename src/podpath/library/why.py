"""Why one end of a cluster cannot reach another: nodes and objects read, the connection walked over
all of them, and answered from the node where it breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from podpath.checks.finding import Finding
from podpath.checks.owned import place_owners
from podpath.checks.services.pod_without_address import find_unplaced
from podpath.diagnosis.across import NodeView, diagnose_across, touched
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.library.asked_ends import doubt_ends
from podpath.library.case import Case
from podpath.library.cluster import (
    ClusterQuestion,
    ClusterViews,
    ask_between,
    list_absent,
    read_nodes,
    starts_on,
)
from podpath.library.diagnosis import DiagnosisResult
from podpath.library.given import Given
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import gather, read
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.named_ends import choose_pods, name_pods
from podpath.node.node import Node


@dataclass(frozen=True, slots=True, repr=False)
class WhyResult(DiagnosisResult):
    """The answer of `why`."""

    probe: Probe | None
    """The connection that was walked; None where a pod that is asked about has no address."""
    nodes: tuple[str, ...]
    """The nodes that it passes, the one that it starts on first."""
    doubts: tuple[str, ...] = ()
    """A sentence for each end that is probably mistyped."""


def why(  # noqa: PLR0913  # two ends, and keywords that say what they are
    source: str,
    destination: str,
    *,
    nodes: Mapping[str, Case | Given],
    objects: Given = (),
    protocol: str = "",
    lacking: Sequence[str] = (),
    namespaces: Sequence[str] = (),
    progress: Progress = silent,
) -> WhyResult:
    """Find out why one end cannot reach another, in whatever nodes lie between.

    Ends are as users say them: `pod/shop/web-0`, `svc/shop/api:http`, `shop/web-0`,
    `deploy/shop/api`, `api.shop.svc.cluster.local:80`, `node/node1`, an address with or without a
    port, `outside`. `nodes` is the evidence of each node by its name (a snapshot), `objects` what
    the cluster's API says (`kubectl get -A -o yaml pods,services,...`). `lacking` are nodes that
    the connection may pass and whose evidence could not be had: without them nothing is cleared, as
    it is not where the objects say that an end's pod is on a node that is not given. `namespaces`
    are those in which a name is looked for first that has none.
    """
    if not nodes and objects == ():
        raise UsageError("expected the evidence of a node: nodes={'node1': 'node1.tar.gz'}")
    question = ClusterQuestion(source, destination, protocol, tuple(namespaces))
    shared = gather(objects, progress) if objects != () else None
    absent = dict.fromkeys((*lacking, *list_absent(question, nodes, shared)))
    cases = read_nodes(nodes, shared, tuple(absent), progress)
    known = next(iter(cases.values())) if cases else read(objects, progress=progress)
    unplaced = tuple(_find_unplaced(known, cases.values(), question))
    if unplaced:
        return _answer_unplaced(known, unplaced, question)
    if not nodes:
        raise UsageError("expected the evidence of a node: nodes={'node1': 'node1.tar.gz'}")
    with collecting_seldom(), stage(progress, "walking"):
        return _answer(cases, question)


def _find_unplaced(
    known: Case, cases: Iterable[Case], question: ClusterQuestion
) -> Iterator[Finding]:
    """Yield what is said of ends that are pods without an address, by the objects and where no
    node's snapshot has the pod.
    """
    placed = {key for case in cases for key in _list_placed(case.node)}
    asked = name_pods(question.ends, known.facts.objects, question.near)
    missing = (pod for pod in asked if (pod.namespace, pod.name) not in placed)
    yield from find_unplaced(known.facts, missing)


def _list_placed(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the pods whose network namespaces a node's evidence shows."""
    for pod in node.pods:
        if pod.netns is not None and not node.namespaces[pod.netns].inferred:
            yield pod.namespace, pod.name


def _answer_unplaced(
    known: Case, unplaced: tuple[Finding, ...], question: ClusterQuestion
) -> WhyResult:
    facts = known.facts
    quoted = [span for one in unplaced for span in one.evidence]
    answer = Diagnosis(
        verdict=Verdict.FAULT,
        findings=unplaced,
        notes=tuple(_say_chosen(known, question)),
        owners=place_owners(facts, quoted, ()),
    )
    return WhyResult(answer, None, ())


def _say_chosen(known: Case, question: ClusterQuestion) -> Iterator[str]:
    """Say which pod of a workload an end stands for."""
    for one in choose_pods(question.ends, known.facts.objects, question.near):
        yield f"{one.end} stands for {one.pod}; {one.ready} of its {one.of} pods are ready."


def _answer(cases: Mapping[str, Case], question: ClusterQuestion) -> WhyResult:
    view_of = ClusterViews(cases).view_of

    def ask(view: NodeView) -> Probe:
        return ask_between(view, question)

    first = next(iter(cases))
    start = starts_on(view_of(first), ask(view_of(first)))
    probe = ask(view_of(start))
    passed = touched(view_of(start), probe)
    asked = [(view_of(name), ask(view_of(name))) for name in passed or (start,)]
    answer = diagnose_across(asked)
    if answer.verdict is Verdict.POSSIBLE:
        beyond = [(view_of(name), ask(view_of(name))) for name in cases if name not in passed]
        found = diagnose_across(beyond) if beyond else answer
        answer = found if found.verdict is Verdict.FAULT else answer
    notes = (*_say_chosen(cases[first], question), *answer.notes)
    doubts = doubt_ends(cases.values(), (probe,))
    return WhyResult(replace(answer, notes=notes), probe, passed, doubts)
