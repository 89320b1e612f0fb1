"""Why one end of a cluster cannot reach another: nodes and objects read, the connection walked over
all of them, and answered from the node where it breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from podpath.diagnosis.across import NodeView, diagnose_across, touched
from podpath.diagnosis.verdict import Verdict
from podpath.library.asked_ends import doubt_ends
from podpath.library.case import Case
from podpath.library.cluster import ClusterViews, ask_between, list_absent, read_nodes, starts_on
from podpath.library.diagnosis import DiagnosisResult
from podpath.library.given import Given
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import gather
from podpath.net.errors import UsageError
from podpath.net.probe import Probe


@dataclass(frozen=True, slots=True, repr=False)
class WhyResult(DiagnosisResult):
    """The answer of `why`."""

    probe: Probe
    """The connection that was walked."""
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
    absent = dict.fromkeys((*lacking, *list_absent((source, destination), nodes, shared)))
    cases = read_nodes(nodes, shared, tuple(absent), progress)
    with collecting_seldom(), stage(progress, "walking"):
        return _answer(cases, source, destination, protocol)


def _answer(cases: Mapping[str, Case], source: str, destination: str, protocol: str) -> WhyResult:
    view_of = ClusterViews(cases).view_of

    def ask(view: NodeView) -> Probe:
        return ask_between(view, source, destination, protocol)

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
    return WhyResult(answer, probe, passed, doubt_ends(cases.values(), (probe,)))
