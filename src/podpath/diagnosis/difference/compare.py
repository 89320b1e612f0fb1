"""Two nodes compared: what fails on one, what becomes of it on the other, and the least that
explains it.

What fails is a connection that is walked, or a fault that a check finds on the node as it is.
An explanation is proven: the node in trouble with these differences taken over from the other one
carries the connection, or no longer has the fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from podpath.checks.finding import WEIGHTY, Finding
from podpath.checks.owned import NOBODY, OwnerPlaces, place_owners
from podpath.checks.registry import run_checks
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.clearance import WalkedConnection, forbid_all_clear
from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.nodes import compare_nodes, take_over
from podpath.diagnosis.difference.smallest import Taken, Test, find_smallest, order_by_nearness
from podpath.diagnosis.flows import derive_flows, suggest_probes
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.naming import names_of
from podpath.diagnosis.proof import BRANCHES, describe
from podpath.diagnosis.symptoms import collect_symptoms
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, Span
from podpath.node.case import Case
from podpath.node.node import Node

MOST = 8
"""Failing connections that are looked into: what breaks more of them is the same few things."""
EXPLAINED, UNEXPLAINED, WORKS, UNDECIDED = "explained", "unexplained", "works", "undecided"
EXIT_CODES = {EXPLAINED: 1, UNEXPLAINED: 3, WORKS: 0, UNDECIDED: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedOutcome:
    """What becomes of one connection on both nodes."""

    probe: Probe
    here: Conversation
    there: Conversation

    @property
    def fails_here(self) -> bool:
        """Tell whether it fails on the node in trouble, always or now and then."""
        return describe(self.here) in ("fails", "works now and then")


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalCure:
    """Differences that explain what fails: taken over together, they cure, and none of them can be
    left out.
    """

    differences: Taken
    others: tuple[Taken, ...] = ()
    """What would cure the same as well, each by itself."""
    probes: tuple[Probe, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeComparison:
    """The answer of `podpath diff`."""

    verdict: str
    """`explained`, `unexplained` (it fails, and no difference that can be tried cures it), `works`,
    `undecided`.
    """
    outcomes: tuple[ComparedOutcome, ...]
    explanations: tuple[MinimalCure, ...]
    unexplained: tuple[Probe, ...]
    differences: tuple[Difference, ...]
    """All that differs, explaining or not."""
    gaps: tuple[Gap, ...] = ()
    forbids: tuple[Forbids, ...] = ()
    """What forbids to say that nothing fails."""
    owners: OwnerPlaces = NOBODY
    """Whose the lines are that differ."""

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath diff`."""
        return EXIT_CODES[self.verdict]

    @property
    def rest(self) -> tuple[Difference, ...]:
        """What differs and is not needed to explain anything."""
        needed = [taken for each in self.explanations for taken in (each.differences, *each.others)]
        used = {id(each) for taken in needed for each in taken}
        return tuple(each for each in self.differences if id(each) not in used)


def compare_cases(
    bad: Case, good: Case, probes: Sequence[Probe] = (), left: Sequence[Forbids] = ()
) -> NodeComparison:
    """Compare two nodes by the connections that are asked about; by what fails in the evidence,
    where none is. `left` is what was asked about and not walked.
    """
    outcomes = _walk_both(bad, good, probes)
    differences = compare_nodes(bad.node, good.node)
    failing = [outcome for outcome in outcomes if outcome.fails_here]
    failing.sort(key=_fails_on_both)
    explanations: list[MinimalCure] = []
    unexplained: list[Probe] = []
    for outcome in failing[:MOST]:
        cures = partial(_carries, bad.node, outcome.probe)
        if _joins(explanations, cures, MinimalCure(differences=(), probes=(outcome.probe,))):
            continue
        found = find_smallest(_near(outcome.here, differences), cures)
        if found:
            explanations.append(
                MinimalCure(differences=found[0], others=found[1:], probes=(outcome.probe,))
            )
        else:
            unexplained.append(outcome.probe)
    if not probes:
        _explain_faults(bad, good, differences, explanations)
    verdict = _verdict(outcomes, explanations, failing)
    forbids = (*_forbid_works(bad, outcomes), *left) if verdict == WORKS else ()
    return NodeComparison(
        verdict=UNDECIDED if forbids else verdict,
        outcomes=outcomes,
        explanations=tuple(explanations),
        unexplained=tuple(unexplained),
        differences=differences,
        gaps=(*bad.gaps, *good.gaps),
        forbids=forbids,
        owners=_place_owners(bad, good, differences, forbids),
    )


def _fails_on_both(outcome: ComparedOutcome) -> bool:
    return describe(outcome.there) != "works"


def _place_owners(
    bad: Case, good: Case, differences: Sequence[Difference], forbids: Sequence[Forbids]
) -> OwnerPlaces:
    """Find whose the things are that differ, each on the node that has it."""
    here = [span for each in differences for span in each.here]
    here += [span for one in forbids for span in one.spans]
    there = [span for each in differences for span in each.there]
    return place_owners(bad, here) | place_owners(good, there)


def _forbid_works(bad: Case, outcomes: Sequence[ComparedOutcome]) -> tuple[Forbids, ...]:
    """Return what forbids to say that nothing fails: each connection is walked under every likely
    answer to what is not known.
    """
    engine = Engine(bad.node)
    walked = [
        WalkedConnection(outcome.probe, converse(engine, outcome.here.probe, limit=BRANCHES))
        for outcome in outcomes
    ]
    return forbid_all_clear(bad, walked, suggest_probes(bad.node, derive_flows(bad.node)))


def walk(node: Node, probe: Probe) -> Conversation:
    """Walk a connection with what is unknown as it likeliest is; from a namespace of another name
    where this node lacks it.
    """
    known = probe.netns is None or probe.netns in node.namespaces
    return converse(
        Engine(node), probe if known else probe._replace(netns=None), limit=BRANCHES, deviations=0
    )


def _walk_both(bad: Case, good: Case, probes: Sequence[Probe]) -> tuple[ComparedOutcome, ...]:
    """Walk what the user asks, what fails in the evidence, or else what any node should carry and
    the other one does.
    """
    asked = tuple(probes) or tuple(
        symptom.probe for symptom in collect_symptoms(bad, ()) if symptom.fails
    )
    outcomes = (
        ComparedOutcome(probe=probe, here=walk(bad.node, probe), there=walk(good.node, probe))
        for probe in asked or derive_flows(bad.node)
    )
    return tuple(outcome for outcome in outcomes if asked or describe(outcome.there) == "works")


def _near(failing: Conversation, differences: Sequence[Difference]) -> list[Difference]:
    """Order differences by what the failing walk quotes and says."""
    quoted: set[Span] = set()
    names: set[str] = set()
    for branch in failing.branches:
        for step in branch.steps:
            quoted.update(step.spans)
            names.update(names_of(step))
    return order_by_nearness(differences, quoted, frozenset(names))


def _explain_faults(
    bad: Case, good: Case, differences: Sequence[Difference], explanations: list[MinimalCure]
) -> None:
    """Explain what checks find on this node and not on the other one, as far as it goes away with
    what differs.
    """
    known = {finding.check for finding in run_checks(good)}
    for finding in run_checks(bad):
        weighty = finding.severity in WEIGHTY and finding.certainty == 1
        if not weighty or finding.check in known:
            continue
        cures = partial(_lacks, bad, finding)
        if not _joins(explanations, cures, MinimalCure(differences=(), findings=(finding,))):
            found = find_smallest(order_by_nearness(differences, finding.evidence), cures)
            if found:
                explanations.append(
                    MinimalCure(differences=found[0], others=found[1:], findings=(finding,))
                )


def _carries(node: Node, probe: Probe, taken: Taken) -> bool:
    return describe(walk(take_over(node, taken), probe)) == "works"


def _lacks(case: Case, finding: Finding, taken: Taken) -> bool:
    """Tell whether a check no longer finds the fault once some differences are taken over."""
    after = run_checks(replace(case, node=take_over(case.node, taken)))
    return all(other.check != finding.check for other in after)


def _joins(explanations: list[MinimalCure], cures: Test, new: MinimalCure) -> bool:
    """Tell whether what was found for something else cures this too, and note it there."""
    for at, old in enumerate(explanations):
        if cures(old.differences):
            others = tuple(taken for taken in old.others if cures(taken))
            explanations[at] = replace(
                old,
                others=others,
                probes=(*old.probes, *new.probes),
                findings=(*old.findings, *new.findings),
            )
            return True
    return False


def _verdict(
    outcomes: Sequence[ComparedOutcome],
    explanations: Sequence[MinimalCure],
    failing: Sequence[ComparedOutcome],
) -> str:
    if explanations:
        return EXPLAINED
    if failing:
        return UNEXPLAINED
    return WORKS if all(describe(outcome.here) == "works" for outcome in outcomes) else UNDECIDED
