"""One connection over several nodes: walked through all of them as each sees it, and answered from
the node where it breaks.

Whatever names a cause, proves a cure or asks a question speaks of the node at hand. So the joined
model is looked at from every node that the connection touches, and of what each view finds only
that counts which its own evidence shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from podpath.checks.finding import WEIGHTY, Finding
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.devices import CrossedWire
from podpath.datapath.tracing.trace import Conversation
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.net.probe import Probe
from podpath.net.provenance import Source
from podpath.node.case import Case
from podpath.node.cluster import Cluster
from podpath.node.node import Netns

_NO_IPSEC = (
    "Assumed: no IPsec policy drops or changes traffic between the nodes; check with ip xfrm "
    "policy on each."
)
_ORDER = (Verdict.FAULT, Verdict.POSSIBLE, Verdict.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """All nodes as one of them sees them."""

    name: str
    case: Case
    """Its own case, with the joined model for its node."""
    own: Case
    sources: frozenset[Source]
    """What evidence is of this node, or of none in particular."""


def see_from(
    cases: Mapping[str, Case],
    sources: Mapping[str, frozenset[Source]],
    name: str,
    moved: Mapping[str, tuple[Netns, ...]],
) -> NodeView:
    """Join the cases of all nodes as one of them sees them; `moved` are the namespaces of each as
    others see them (`move_node`).
    """
    own = cases[name]
    others = {other: case.node for other, case in cases.items() if other != name}
    alternatives = tuple(
        replace(each, node=Cluster(nodes={**others, name: each.node}, moved=moved).seen_from(name))
        for each in own.alternatives
    )
    read = [own, *(cases[other] for other in others)]
    gaps = [gap for case in read for gap in case.gaps]
    joined = replace(
        own,
        node=Cluster(nodes={**others, name: own.node}, moved=moved).seen_from(name),
        alternatives=alternatives,
        gaps=tuple({str(gap.span) + gap.why: gap for gap in gaps}.values()),
    )
    return NodeView(name=name, case=joined, own=own, sources=sources[name])


def touched(view: NodeView, probe: Probe) -> tuple[str, ...]:
    """Return the nodes that a connection passes, the one it starts on first."""
    conversation = converse(view.case.node, probe)
    first: dict[str, None] = {}
    for branch in conversation.branches:
        for trace in branch.traces:
            for name in (trace.start, *(step.netns for step in trace.steps)):
                netns = view.case.node.namespaces.get(name)
                if netns is not None:
                    first[netns.node or view.name] = None
    return tuple(first)


def diagnose_across(asked: Sequence[tuple[NodeView, Probe]]) -> Diagnosis:
    """Say what became of a connection, from the view of the node where something is wrong with it.

    `asked` are the views of the nodes that it touches, each with the probe as it is spelled there.
    """
    answers = [
        (view, keep_own(view, diagnose(view.case, (probe,), own=view.own))) for view, probe in asked
    ]
    view, answer = min(answers, key=lambda one: _ORDER.index(one[1].verdict))
    node = view.name if answer.verdict is not Verdict.NONE else ""
    notes = (*_assumed_wires(answer.conversations), *answer.notes)
    return replace(answer, node=node, notes=notes)


def keep_own(view: NodeView, answer: Diagnosis) -> Diagnosis:
    """Return an answer with the findings that the view's own evidence shows."""
    kept = tuple(finding for finding in answer.findings if is_own(view, finding))
    if len(kept) == len(answer.findings):
        return answer
    weighty = [finding for finding in kept if finding.severity in WEIGHTY]
    sure = any(finding.certainty == 1 for finding in weighty)
    verdict = Verdict.FAULT if sure else Verdict.POSSIBLE
    return replace(answer, findings=kept, verdict=verdict)


def is_own(view: NodeView, finding: Finding) -> bool:
    """Tell whether a finding is of the view's own node, by the line that decides, else by where it
    was decided.
    """
    if finding.evidence:
        return finding.evidence[0].source in view.sources
    branch = finding.shown_by
    if branch is None or not branch.traces or not branch.last.steps:
        return True
    netns = view.case.node.namespaces.get(branch.last.deciding.netns)
    return netns is None or not netns.node


def _assumed_wires(conversations: Iterable[Conversation]) -> tuple[str, ...]:
    """Say which wires were taken to deliver, and what would tell whether they do."""
    crossed: dict[CrossedWire, str] = {}
    for conversation in conversations:
        for branch in conversation.branches[:1]:
            for trace in branch.traces:
                for step in trace.steps:
                    if isinstance(step.reason, CrossedWire):
                        crossed.setdefault(step.reason, step.reason.link)
    nodes = {reason.node: reason for reason in crossed}
    return (*_say_delivering(nodes.values()), *([_NO_IPSEC] if nodes else []))


def _say_delivering(crossed: Iterable[CrossedWire]) -> tuple[str, ...]:
    return tuple(
        f"Assumed: the wire to {reason.peer} of "
        f"{reason.node}{f' ({reason.subnet})' if reason.subnet is not None else ''} delivers what "
        f"is sent; check with tcpdump -ni {reason.peer} on {reason.node} while you retry."
        for reason in crossed
    )
