"""The diagnosis: symptoms collected, worlds walked, explanations ranked, repairs proven, checks
run, one answer given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.checks.links import foreign_arp
from podpath.checks.looks import look_at_captures
from podpath.checks.netfilter.client_hidden import tell_hidden
from podpath.checks.netfilter.policy_unlike_rules import find_unenforced, tell_unlike
from podpath.checks.owned import OwnerPlaces, place_owners
from podpath.checks.registry import run_checks
from podpath.checks.services.node_port_missing import find_node_ports, tell_node_port
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation, Trace
from podpath.diagnosis.asked import keep_asked
from podpath.diagnosis.assumed import is_assumed
from podpath.diagnosis.captured import add_captured
from podpath.diagnosis.carried import BrokenFlows, doubt, find_broken, find_complained, tell_walked
from podpath.diagnosis.check_proof import prove_check
from podpath.diagnosis.clearance import (
    REFUSED,
    WalkedConnection,
    forbid_all_clear,
    forbid_by_complaints,
)
from podpath.diagnosis.comparison import compare_with_good
from podpath.diagnosis.complained import Complained, place_complaints
from podpath.diagnosis.conclusion import Conclusion, conclude
from podpath.diagnosis.convicting import settle_findings
from podpath.diagnosis.counters import add_counters
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.difference.nodes import compare_nodes
from podpath.diagnosis.doubting import doubt_findings
from podpath.diagnosis.findings import CHAINED, merge_checks
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.flows import OUTSIDE, BaselineFlow, list_flows, suggest_probes
from podpath.diagnosis.forbids import Forbids, NothingWalked
from podpath.diagnosis.meeting import add_observations, find_partings
from podpath.diagnosis.placeholders import Placeholders
from podpath.diagnosis.playbook import ask_expert, is_asked
from podpath.diagnosis.proxied import (
    Proxied,
    carried_by_proxies,
    complained_by_proxies,
    rests_on_proxies,
    with_proxies,
)
from podpath.diagnosis.questions import (
    ask_each_once,
    ask_for_clearance,
    ask_for_ends,
    ask_for_findings,
)
from podpath.diagnosis.ranking import rank_findings
from podpath.diagnosis.resting import is_made_up
from podpath.diagnosis.symptoms import Symptom, collect_symptoms
from podpath.diagnosis.verdict import Verdict
from podpath.diagnosis.without_guesses import lower_guessed
from podpath.diagnosis.worlds import DEVIATIONS, LIMIT, Judgement, World, judge
from podpath.net.addresses import Address
from podpath.net.counted import count
from podpath.net.probe import Probe
from podpath.node.case import Case, Unplaced
from podpath.node.node import HOST, Node

LEADING = 2
"""Questions of an expert that come before those of a walk which supposes all that it blames."""
EVERY_ANSWER = 256
"""Branches walked of a connection that works in all the likely ones, before it is said to work."""


PROXIES = 3
"""Proxies' connections that a note speaks of: more say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inquiry:
    """What is asked of which evidence, as every step of a diagnosis needs it."""

    case: Case
    own: Case
    """The case of the node alone, where `case` is joined with others: checks look at one node."""
    base: World
    """The node as it is, with nothing supposed."""
    probes: tuple[Probe, ...]
    """What the user asks about."""
    symptoms: tuple[Symptom, ...]
    carried: tuple[BaselineFlow, ...]
    """The connections that any such node should carry."""
    unasked: bool
    """Nobody names a connection that fails, so those that are carried are in question."""
    complained: tuple[Complained, ...]
    """The connections that prose complains of, where nobody names one."""
    proxied: tuple[Proxied, ...] = ()
    """The connections among them that end at a proxy in their pod, and what the proxy sends."""

    @property
    def flows(self) -> tuple[Probe, ...]:
        """Return the connections that are carried, each once."""
        return tuple(dict.fromkeys(flow.probe for flow in self.carried))

    @property
    def unplaced(self) -> tuple[Unplaced, ...]:
        """Return the failures between ends that nothing places, unless the user asks himself."""
        return () if self.probes else self.case.unplaced


def diagnose(
    case: Case,
    probes: tuple[Probe, ...] = (),
    good: Case | None = None,
    own: Case | None = None,
    tell: Callable[[float], None] = lambda _share: None,
) -> Diagnosis:
    """Say what is wrong with a node, by its evidence and by the connections that fail.

    `own` is the case of the node alone, where that of `case` is joined with others: checks look at
    one node. `tell` hears how many connections are walked of those that nobody names, in each pass
    over them.
    """
    inquiry = _inquire(case, own or case, probes)
    concluded = _conclude(inquiry, tell)
    found = _find(inquiry, concluded, good)
    findings = found if own is None else keep_asked(case, found, concluded, probes)
    verdict = _verdict(findings, concluded, inquiry.unplaced)
    walked: tuple[WalkedConnection, ...] = ()
    forbids: tuple[Forbids, ...] = ()
    if verdict is Verdict.NONE:
        walked = _walk_in_question(inquiry.base, concluded, inquiry.flows, tell)
        forbids = _forbid(inquiry, walked)
    verdict = Verdict.POSSIBLE if forbids else verdict
    conversations = _list_conversations(concluded, walked)
    questions = _questions(case, (verdict, findings, forbids), concluded, inquiry.unplaced)
    placeholders = Placeholders(case)
    return Diagnosis(
        owners=_place_owners(case, (findings, forbids), conversations),
        verdict=verdict,
        findings=tuple(map(placeholders.of_finding, findings)),
        conversations=tuple(map(placeholders.of_conversation, conversations)),
        questions=tuple(map(placeholders.of_question, questions)),
        contradictions=case.contradictions,
        gaps=case.gaps,
        notes=(
            *_carried_notes(inquiry),
            *map(str, inquiry.proxied[:PROXIES]),
            *_notes(case.node, findings, concluded),
            *_unplaced_notes(inquiry.unplaced),
            *_elsewhere_notes(len(found) - len(findings)),
        ),
        partings=tuple(find_partings(concluded.judgements)),
        forbids=forbids,
        complained=inquiry.complained,
        denied=_list_denied(concluded, inquiry.complained),
        working=_list_working(concluded.judgements),
    )


def _list_working(judgements: Sequence[Judgement]) -> frozenset[Probe]:
    """Return the connections that the evidence shows to work, and never to fail."""
    shown: dict[bool | None, set[Probe]] = {}
    for judgement in judgements:
        shown.setdefault(judgement.symptom.fails, set()).add(judgement.symptom.probe)
    return frozenset(shown.get(False, set()) - shown.get(True, set()))


def _place_owners(
    case: Case,
    found: tuple[Sequence[Finding], Sequence[Forbids]],
    conversations: Sequence[Conversation],
) -> OwnerPlaces:
    """Find whose the things are that an answer quotes and walks speak of."""
    findings, forbids = found
    shown = [one.shown_by for one in findings if one.shown_by is not None]
    branches = [branch for each in conversations for branch in each.branches]
    quoted = [span for one in findings for span in one.evidence]
    quoted += [span for each in (*forbids, *case.contradictions) for span in each.spans]
    return place_owners(case, quoted, (*shown, *branches))


def _inquire(case: Case, own: Case, probes: tuple[Probe, ...]) -> _Inquiry:
    """Gather what is said to fail and what any such node carries."""
    base = World(case.node)
    stated, parts = with_proxies(base, collect_symptoms(case, probes))
    symptoms = tuple(_expect(base, symptom) for symptom in stated)
    unasked = not probes and not any(symptom.fails for symptom in symptoms)
    complained = place_complaints(case) if unasked else ()
    said = tuple(complained_by_proxies(base, complained))
    flows = list_flows(own.node)
    sent = tuple(carried_by_proxies(base, flows)) if unasked else ()
    return _Inquiry(
        case=case,
        own=own,
        base=base,
        probes=probes,
        symptoms=symptoms,
        carried=(*flows, *(flow for flow, _ in sent)),
        unasked=unasked,
        complained=(*complained, *(one for one, _ in said)),
        proxied=tuple(dict.fromkeys((*parts, *(part for _, part in (*said, *sent))))),
    )


def _conclude(inquiry: _Inquiry, tell: Callable[[float], None]) -> Conclusion:
    """Explain what is said to fail; where nobody says so, what is carried and fails."""
    broken = BrokenFlows((), ())
    if inquiry.unasked:
        meant = find_complained(inquiry.base, inquiry.complained)
        broken = _join(meant, find_broken(inquiry.base, count(inquiry.carried, tell)))
    failing = broken.faults or broken.suspected
    symptoms = (*inquiry.symptoms, *failing)
    concluded = conclude(inquiry.case, symptoms, inquiry.flows)
    suspected = broken.suspected and not broken.faults
    if suspected or rests_on_proxies(inquiry.base, symptoms, inquiry.proxied):
        return doubt(concluded)
    return concluded


def _find(inquiry: _Inquiry, concluded: Conclusion, good: Case | None) -> tuple[Finding, ...]:
    """Join what walks and checks find, with what captures, counters and a good node add; the
    likeliest first.
    """
    case = inquiry.case
    told = {finding.check for finding in concluded.causes}.difference(*CHAINED.values())
    checked = lower_guessed(inquiry.own, tuple(run_checks(inquiry.own, told)))
    merged = merge_checks((*concluded.causes, *concluded.possible), checked)
    proven = tuple(prove_check(case, finding, inquiry.flows) for finding in merged)
    hidden = [tell_hidden(case, finding) for finding in proven]
    walked = [one.conversation for one in concluded.judgements]
    unenforced = find_unenforced(case, walked, inquiry.probes)
    unwritten = find_node_ports(case, _list_in_question(concluded))
    told_apart = (tell_node_port(case, tell_unlike(case, finding)) for finding in hidden)
    named = (*told_apart, *unenforced, *unwritten)
    observed = add_observations(named, concluded.judgements)
    captured = add_captured(observed, look_at_captures(case), concluded)
    findings = add_counters(captured, inquiry.own.node)
    if good is not None:
        differences = compare_nodes(case.node, good.node)
        findings = tuple(compare_with_good(finding, good.node, differences) for finding in findings)
    settled = settle_findings(case, doubt_findings(case, findings))
    return rank_findings(case, settled, inquiry.probes)


def _list_in_question(concluded: Conclusion) -> Iterator[Conversation]:
    """Yield the walks of what is asked about and was not seen to work."""
    for one in concluded.judgements:
        if one.symptom.fails is not False:
            yield one.conversation


def _forbid(inquiry: _Inquiry, walked: Sequence[WalkedConnection]) -> tuple[Forbids, ...]:
    """Return what forbids to say that nothing is wrong, where no finding does."""
    suggested = suggest_probes(inquiry.case.node, inquiry.flows)
    forbids = forbid_all_clear(inquiry.case, walked, suggested)
    if inquiry.probes:
        return forbids
    return (*forbids, *forbid_by_complaints(inquiry.case, inquiry.complained))


def _list_conversations(
    concluded: Conclusion, walked: Sequence[WalkedConnection]
) -> tuple[Conversation, ...]:
    """Return each connection's walk; one under more answers replaces one under fewer."""
    found = {one.symptom.probe: one.conversation for one in concluded.judgements}
    found.update({one.probe: one.conversation for one in walked})
    return tuple(found.values())


def _list_denied(concluded: Conclusion, complained: Sequence[Complained]) -> frozenset[Probe]:
    """Return the connections that somebody says fail."""
    failing = (one.symptom.probe for one in concluded.judgements if one.symptom.fails)
    return frozenset((*failing, *(one.probe for one in complained)))


def _join(meant: BrokenFlows, carried: BrokenFlows) -> BrokenFlows:
    """Return what fails of what people complain of before what fails of what any node should
    carry.
    """
    return BrokenFlows((*meant.faults, *carried.faults), (*meant.suspected, *carried.suspected))


def _questions(
    case: Case,
    told: tuple[Verdict, Sequence[Finding], Sequence[Forbids]],
    concluded: Conclusion,
    unplaced: Sequence[Unplaced],
) -> tuple[Question, ...]:
    """Return what to ask next, the most telling first; a command stands where it is first asked
    for.

    Where prose speaks of something, and nothing that it says is understood as a failure, an expert
    asks before anything is asked that the all-clear needs, such as which connection fails.
    """
    verdict, findings, forbids = told
    if verdict is Verdict.FAULT:
        return concluded.questions
    if verdict is Verdict.NONE:
        return ()  # whatever would still be worth a question forbids the all-clear
    clearing = ask_for_clearance(forbids)
    unheard = (
        not is_asked(case)
        and bool(case.mentions)
        and any(isinstance(one, NothingWalked) for one in forbids)
    )
    asked = ask_expert(case) if unheard or is_asked(case) else ()
    assumed = _list_assumed(case, findings, concluded)
    walked = () if assumed else concluded.questions
    own = ask_for_findings(findings)
    led = _is_led(findings) and not concluded.causes
    settling = (*own[:1], *walked, *own[1:]) if led else (*walked, *own)
    leading = asked[:LEADING] if assumed else asked
    questions = (
        *settling[:1],
        *leading,
        *settling[1:],
        *assumed,
        *asked,
        *ask_for_ends(unplaced),
        *clearing,
    )
    return ask_each_once(questions)


def _is_led(findings: Sequence[Finding]) -> bool:
    """Tell whether a fault that no walk found comes first, and says what would settle it."""
    return bool(findings) and findings[0].severity is Severity.FAULT and bool(findings[0].asks)


def _list_assumed(
    case: Case, findings: Sequence[Finding], concluded: Conclusion
) -> tuple[Question, ...]:
    """Return the questions of a walk whose possible causes all rest on what nobody pasted: they
    come after an expert's.
    """
    causes = [finding for finding in findings if finding.severity == Severity.CAUSE]
    return (
        concluded.questions
        if causes and all(is_assumed(case, finding) for finding in causes)
        else ()
    )


def _walk_in_question(
    base: World,
    concluded: Conclusion,
    flows: Sequence[Probe],
    tell: Callable[[float], None],
) -> tuple[WalkedConnection, ...]:
    """Walk the connections in question under every likely answer to what is not known.

    Those are the ones that somebody names. Where nobody names any, they are what every node should
    carry; a port of those is only a guess, so that one on which nobody listens says nothing.
    """
    named = [
        (judgement.symptom.probe, _seen_to_work(judgement)) for judgement in concluded.judgements
    ]
    if named:
        return tuple(WalkedConnection(probe, _fork(base, probe), works) for probe, works in named)
    walked: list[WalkedConnection] = []
    for probe in count(flows, tell):
        conversation = _fork(base, probe)
        if not all(_says_nothing(probe, branch) for branch in conversation.branches):
            walked.append(WalkedConnection(probe, conversation, asked=False))
    return tuple(walked)


def _says_nothing(probe: Probe, branch: Branch) -> bool:
    """Tell whether the failure of a connection that nobody named is none of the node's.

    Nobody listens on the port that was guessed, a pod reaches itself through its own service, or a
    machine beyond the node does not know an address that only stands for the world.
    """
    if branch.works is not False:
        return False
    first = branch.traces[0]
    returned = any(step.after.dst == probe.src for step in first.steps)
    beyond = probe.dst == OUTSIDE and branch.last.deciding.netns not in {HOST, first.start}
    return branch.kind == REFUSED or returned or beyond


def _seen_to_work(judgement: Judgement) -> bool | None:
    fails = judgement.symptom.fails
    return None if fails is None else not fails


def _fork(base: World, probe: Probe) -> Conversation:
    """Walk a connection under every likely answer; where all of them let it work, under every
    combination of answers.

    Where the likeliest walk met nothing that is unknown, it is all of them.
    """
    likeliest = base.converse(probe)
    if not likeliest.pruned:
        return likeliest
    found = converse(base.engine, probe, limit=LIMIT, deviations=DEVIATIONS, settled=base.settled)
    if found.pruned and not found.truncated and all(branch.works for branch in found.branches):
        return converse(
            base.engine, probe, limit=EVERY_ANSWER, deviations=EVERY_ANSWER, settled=base.settled
        )
    return found


def _expect(base: World, symptom: Symptom) -> Symptom:
    """Take a connection that the user names for a failing one where the walk says that it fails."""
    if symptom.fails is not None:
        return symptom
    judged = judge(base, symptom)
    if judged.branch is not None and judged.branch.works is False:
        return replace(symptom, fails=True, result="fails in simulation")
    return symptom


def _carried_notes(inquiry: _Inquiry) -> Iterator[str]:
    if inquiry.unasked and inquiry.carried:
        yield tell_walked(inquiry.carried)


def _notes(node: Node, findings: Sequence[Finding], concluded: Conclusion) -> Iterator[str]:
    lost = {
        word for finding in findings if finding.check == foreign_arp.NAME for word in finding.marks
    }
    for symptom in concluded.unexplained:
        if not {str(symptom.probe.src), str(symptom.probe.dst)} & lost:
            yield (
                f"Not explained: {symptom.words}. From what is known, the walk does not fail "
                "there as the evidence says."
            )
    for judgement in concluded.judgements:
        if judgement.fit == Fit.CONTRADICTS and judgement.symptom.fails is False:
            yield (
                f"The evidence says that {judgement.symptom.probe} works, but the walk does not "
                "deliver it."
            )
        if judgement.conversation.truncated:
            yield (
                f"{judgement.symptom.probe} has more branches than were walked; "
                "the likeliest ones were."
            )
    yield from _made_up_names(node, findings)


def _made_up_names(node: Node, findings: Sequence[Finding]) -> Iterator[str]:
    """Say which devices and addresses that a finding speaks of are known by inference alone: their
    names are made up.
    """
    names: dict[str, None] = {}
    shown = [one.shown_by for one in findings if one.shown_by is not None]
    ends = {end for one in shown for trace in one.traces for end in _list_ends(trace)}
    made_up = [item for item in node.host.addresses.items if item.stands_for]
    for item in made_up:
        if item.address in ends:
            yield f"{item.address}: no output shows {item.stands_for}; this one is a placeholder."
    for finding in findings:
        for trace in finding.shown_by.traces if finding.shown_by is not None else ():
            for step in trace.steps:
                if step.netns == HOST and step.link is not None and is_made_up(node, step.link):
                    names[step.link] = None
    if names:
        yield (
            f"{', '.join(names)}: no output shows the name of such a device; this one is a "
            "placeholder."
        )


def _list_ends(trace: Trace) -> tuple[Address, Address]:
    """Return the ends of the packet as it was sent."""
    return trace.packet.src, trace.packet.dst


def _unplaced_notes(unplaced: Sequence[Unplaced]) -> Iterator[str]:
    for failure in unplaced:
        what = " to ".join(word for word in (failure.who or "a connection", failure.target) if word)
        hint = (
            f"; --probe '{failure.target.replace(' ', ' ADDRESS > ', 1)}' asks about it"
            if failure.target
            else ""
        )
        yield (
            f"Not walked: {what} ({failure.result or 'it fails'}) at {failure.span}: no output "
            f"shows {failure.missing}{hint}."
        )


def _elsewhere_notes(dropped: int) -> Iterator[str]:
    if dropped:
        what = "1 finding of the node is" if dropped == 1 else f"{dropped} findings of the node are"
        yield f"{what} not about this connection: podpath diagnose, with its evidence, lists them."


def _verdict(
    findings: Sequence[Finding], concluded: Conclusion, unplaced: Sequence[Unplaced]
) -> Verdict:
    """Return `FAULT` for a sure cause or fault, `POSSIBLE` where a failure has none, else
    `NONE`.
    """
    if any(finding.severity in WEIGHTY and finding.certainty == 1 for finding in findings):
        return Verdict.FAULT
    denied = any(judgement.fit == Fit.CONTRADICTS for judgement in concluded.judgements)
    suspected = any(finding.severity in WEIGHTY for finding in findings)
    open_still = suspected or concluded.possible or concluded.unexplained or unplaced or denied
    return Verdict.POSSIBLE if open_still else Verdict.NONE
