"""The order of findings, and which of them are certain: what fits the stated symptom and shares its
ends comes first.

What a walk shows of a failing connection fits by itself. For what checks find the rules are, in
this order:

1. A fault that cannot cause any failure that is reported is not a cause: it is listed as something
   also seen, and comes last.
2. Several certain faults of different sorts, of which none follows from another, compete for the
   symptom. Those that quote a line with one of its ends stay certain; the others become possible.
   Where ends are named and none shares them, all become possible. Where nobody names an end,
   nothing tells them apart, and each stays what its lines say.
3. A possible fault becomes certain where it is the only sort of fault that is found, rests on
   stated lines, people state a failure of those that it `proves`, and it shares the ends or nobody
   names any; or where what people say fails cannot work without what it breaks (`needed_for`).
4. The sure come before the possible, what quotes a fact before what supposes all that it blames
   (`assumed`), causes before what follows from them (`following`), what shares ends before what
   does not.

Whatever is uncertain has a question: its own, or the first command by which its manual page
confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from podpath.checks.category import Category
from podpath.checks.explains import explained_by
from podpath.checks.finding import WEIGHTY, Finding, FollowUp, Severity
from podpath.checks.needs import is_lacking
from podpath.checks.objects import see
from podpath.checks.registry import find_check
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.diagnosis.assumed import is_assumed
from podpath.diagnosis.clues import list_clues
from podpath.diagnosis.following import follows_from
from podpath.diagnosis.relating import relate
from podpath.diagnosis.sharing import (
    ComplainedEnds,
    is_of_another_service,
    list_ends,
    shares_ends,
)
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.net.statements import WarningEvent
from podpath.node.case import Case

DOUBTED = 0.6
"""The certainty of a fault that another one competes with."""
WAITING = frozenset({"ContainerCreating", "Pending", "Init:0/1", "PodInitializing"})
"""What kubectl says of a pod that waits for its network, among other things."""
UNMADE = frozenset({"FailedCreatePodSandBox", "NetworkNotReady"})
ENDLESS = frozenset({FailureKind.NOT_STARTED, FailureKind.NO_ADDRESS})
"""Failures before there is any connection, and so any end of one."""


def rank_findings(
    case: Case, findings: Sequence[Finding], probes: Iterable[Probe] = ()
) -> tuple[Finding, ...]:
    """Return the findings in the order in which they are told, each with the reason where its place
    needs one.
    """
    kinds = frozenset(clue for clue in list_clues(case) if isinstance(clue, FailureKind))
    spoken = kinds
    kinds |= _list_pending(case)
    ends = list_ends(case, probes)
    fitting = [finding for finding in findings if _fits(finding, kinds)]
    others = [_set_aside(finding, kinds) for finding in findings if not _fits(finding, kinds)]
    placed = [
        _doubt_other(relate(case, finding, ends, spoken or kinds), ends) for finding in fitting
    ]
    told = _raise_only(case, _doubt_rivals(placed, ends), ends, kinds)
    weighty = [finding for finding in told if finding.severity in WEIGHTY]

    def place(finding: Finding) -> tuple[bool, bool, bool, bool, bool]:
        later = finding in weighty and any(
            follows_from(_sorts(finding), _sorts(other)) for other in weighty
        )
        apart = finding in weighty and ends.is_known and not shares_ends(finding, ends)
        return not _is_sure(finding), _is_unsure(finding), is_assumed(case, finding), later, apart

    return tuple(map(_with_ask, (*sorted(told, key=place), *others)))


def _list_unspecific(case: Case) -> frozenset[FailureKind]:
    """Return that an end is not reached, where people say so of a connection and nothing tells
    how.
    """
    unsaid = [one for one in list_failing(case) if one.failure is None]
    at_times = any(Circumstance.INTERMITTENT in one.circumstances for one in unsaid)
    if at_times:
        return frozenset({FailureKind.SOMETIMES})
    cut = any(one.source or one.target or one.addresses for one in unsaid)
    return frozenset({FailureKind.UNREACHABLE}) if cut else frozenset()


def _list_pending(case: Case) -> frozenset[FailureKind]:
    """Return that pods do not start, where their status or an event says so."""
    waiting = any(pod.text_at("status", "phase") in WAITING for pod in see(case, "Pod"))
    warned = any(one.reason in UNMADE for one, _ in statements_of(case, WarningEvent))
    return frozenset({FailureKind.NOT_STARTED}) if waiting or warned else frozenset()


def explained_failures(finding: Finding) -> frozenset[FailureKind]:
    """Return the failures that a finding can make: as it says itself, else as its check's sorts
    do.
    """
    return finding.explains if finding.explains is not None else explained_by(_sorts(finding))


def _sorts(finding: Finding) -> tuple[Category, ...]:
    check = find_check(finding.check)
    return check.categories if check is not None else ()


def _fits(finding: Finding, kinds: frozenset[FailureKind]) -> bool:
    return (
        finding.severity != Severity.FAULT or not kinds or bool(kinds & explained_failures(finding))
    )


def _is_sure(finding: Finding) -> bool:
    return finding.severity in WEIGHTY and finding.certainty == 1


def _is_unsure(finding: Finding) -> bool:
    return finding.severity == Severity.CAUSE and finding.certainty < 1


def _set_aside(finding: Finding, kinds: frozenset[FailureKind]) -> Finding:
    """Return a fault that cannot make what is stated as a thing that was seen as well, and say
    why.
    """
    words = " or ".join(sorted(kind.value for kind in kinds))
    return replace(
        finding,
        severity=Severity.RISK,
        reasoning=(*finding.reasoning, f"It cannot cause what is reported: {words}."),
    )


def _doubt_rivals(findings: Sequence[Finding], ends: ComplainedEnds) -> list[Finding]:
    """Return the findings with those possible that compete with others for the symptom and have
    less to do with it.
    """
    sure = [
        finding for finding in findings if finding.severity in WEIGHTY and finding.certainty == 1
    ]
    rivals = [finding for finding, other in product(sure, repeat=2) if _compete(finding, other)]
    if not rivals or not ends.is_known:
        return list(findings)
    return [
        _doubt(finding) if finding in rivals and not shares_ends(finding, ends) else finding
        for finding in findings
    ]


def _compete(one: Finding, other: Finding) -> bool:
    """Tell whether two faults are of different sorts, and neither follows from the other."""
    mine, others = _sorts(one), _sorts(other)
    return (
        not set(mine) & set(others)
        and not follows_from(mine, others)
        and not follows_from(others, mine)
    )


def _doubt(finding: Finding) -> Finding:
    reason = (
        "It is a fault, but none of its lines mentions either end of the connection in question, "
        "so something else may break that."
    )
    return replace(finding, certainty=DOUBTED, reasoning=(*finding.reasoning, reason))


def _doubt_other(finding: Finding, ends: ComplainedEnds) -> Finding:
    """Return a fault of a service that nobody complains of as a possible cause of what they do."""
    if finding.severity not in WEIGHTY or not is_of_another_service(finding, ends):
        return finding
    reason = "Nothing that is reported to fail names this service."
    return replace(
        finding,
        certainty=min(finding.certainty, DOUBTED),
        reasoning=(*finding.reasoning, reason),
    )


def _raise_only(
    case: Case, findings: Sequence[Finding], ends: ComplainedEnds, kinds: frozenset[FailureKind]
) -> list[Finding]:
    """Return the findings with a possible fault certain that stands alone and proves what is
    stated.
    """
    weighty = [finding for finding in findings if finding.severity in WEIGHTY]
    stated = [finding for finding in weighty if not is_assumed(case, finding)]
    alone = bool(stated) and all(_is_one_fault(stated[0], finding) for finding in stated)
    if not alone or any(finding.certainty == 1 for finding in weighty):
        return list(findings)
    kinds = kinds or _list_unspecific(case)
    first = next((finding for finding in stated if finding.proves & kinds), stated[0])
    proven = (
        first.proves & kinds
        and not first.rests_on
        and (not ends.is_known or shares_ends(first, ends) or bool(first.proves & kinds & ENDLESS))
    )
    needed = any(is_lacking(case, need) for need in first.needed_for)
    proven = proven or (needed and not first.rests_on)
    return [_raise(finding) if proven and finding is first else finding for finding in findings]


def _is_one_fault(one: Finding, other: Finding) -> bool:
    """Tell whether two findings are of one sort, or the second says less of the same line."""
    same_line = set(other.evidence) <= set(one.evidence)
    return bool(set(_sorts(one)) & set(_sorts(other))) or same_line


def _raise(finding: Finding) -> Finding:
    reason = (
        "Nothing else was found that could cause it, and these lines cause exactly what is "
        "reported."
    )
    return replace(finding, certainty=1.0, reasoning=(*finding.reasoning, reason))


def _with_ask(finding: Finding) -> Finding:
    """Return an uncertain fault with the question that would settle it: the manual's, where the
    check has none of its own.
    """
    check = find_check(finding.check)
    if (
        finding.asks
        or finding.certainty == 1
        or finding.severity not in WEIGHTY
        or check is None
        or not check.confirm
    ):
        return finding
    decides = (
        f"if it shows what `podpath explain {check.name}` describes, this is the cause; otherwise "
        "look at the next one"
    )
    fact = f"whether {check.summary.removesuffix('.')}"
    return replace(finding, asks=(FollowUp(fact, check.confirm[0], decides),))
