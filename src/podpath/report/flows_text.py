"""Flows and what became of them as terminal text: what is not as expected first, each with its
line.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.owned import OwnerPlaces
from podpath.datapath.vocabulary import Reachability
from podpath.flows.compared import FlowResult, FlowsAnswer
from podpath.flows.flow import Expectation
from podpath.flows.judged import FlowState, FlowWalk
from podpath.net.provenance import Span
from podpath.report.clearance_words import name_forbids, say_forbids
from podpath.report.escape import escape
from podpath.report.owner_words import render_owned
from podpath.report.quotes import quote
from podpath.report.sentences import spell_failure, spell_reason
from podpath.report.style import Style

_QUESTIONS = 3
_SO_FAR = {Reachability.ALWAYS: "connects", Reachability.NEVER: "fails"}


def render_flows(answer: FlowsAnswer, style: Style) -> str:
    """Render the answer: a headline, then the flows that need a look; all of them with
    --verbose.
    """
    lines = [_headline(answer, style)]
    if style.brief:
        worst = [*answer.unmet, *answer.undecided, *answer.changed][:1]
        lines += [line for one in worst for line in _flow(one, answer.owners, style)]
        return "\n".join(lines) + "\n"
    for planned in answer.changes:
        for gap in planned.refused:
            said = f"not applied: {escape(quote(gap.span))}: {escape(gap.why)}"
            lines += style.wrap(said, "  ")
    for one in answer.results:
        if style.verbose or one.is_met is not True or one.is_changed:
            lines += ["", *_flow(one, answer.owners, style)]
    quiet = sum(one.is_met is True and not one.is_changed for one in answer.results)
    if quiet and not style.verbose:
        what = "flow is" if quiet == 1 else "flows are"
        lines += ["", style.paint("dim", f"{quiet} {what} as expected: --verbose lists all")]
    return "\n".join(lines) + "\n"


def say_headline(answer: FlowsAnswer) -> str:
    """Say how many flows are as expected, how many are not, and how many nobody can tell."""
    total, unmet, open_still = len(answer.results), len(answer.unmet), len(answer.undecided)
    parts = [f"{total - unmet - open_still} of {total} flows as expected"]
    parts += [f"{unmet} not"] if unmet else []
    parts += [f"{open_still} undecided"] if open_still else []
    if answer.changes:
        parts.append(f"{len(answer.changed)} changed by {_spell_changes(answer)}")
    return ", ".join(parts)


def _spell_changes(answer: FlowsAnswer) -> str:
    return ", ".join(planned.name for planned in answer.changes)


def _headline(answer: FlowsAnswer, style: Style) -> str:
    if answer.unmet:
        return style.paint("bad", "UNMET: ") + escape(say_headline(answer))
    if answer.undecided:
        return style.paint("warn", "UNDECIDED: ") + escape(say_headline(answer))
    return style.paint("good", "MET: ") + escape(say_headline(answer))


def _flow(one: FlowResult, owners: OwnerPlaces, style: Style) -> list[str]:
    sign = {True: style.arrived, False: style.broken, None: style.doubtful}[one.is_met]
    lines = style.wrap(escape(f"{one.flow.name}: {say_result(one)}"), f"{sign} ", "  ")
    if str(one.probe) != one.flow.name:
        lines.append(style.paint("dim", f"    {escape(str(one.probe))}"))
    for line in one.flow.stands_for:
        lines.append(style.paint("dim", f"    stands for {escape(line)}"))
    spans = list_lines(one)
    lines += [f"    {style.paint('dim', escape(quote(span)))}" for span in spans]
    lines += render_owned(owners.list_owned(spans), style, "    ")
    for why in list_reasons(one):
        lines += style.wrap(escape(why), "    ")
    return lines


def say_result(one: FlowResult) -> str:
    """Say in a sentence what became of a flow, and what was expected."""
    state = one.walk.state
    said = str(state)
    if one.flow.by and state is FlowState.FAILS and not one.is_by_whom:
        said = f"fails, but not by {one.flow.by}"
    elif one.is_met is False:
        must = "must connect" if one.flow.expect is Expectation.CONNECTS else "must not connect"
        said = f"{must} and {state}"
    elif one.is_met is None:
        must = "connects" if one.flow.expect is Expectation.CONNECTS else "fails"
        said = f"undecided whether it {must}"
    if one.before is not None and one.is_changed:
        said += f" (before the change: {one.before.state})"
    return said


def list_lines(one: FlowResult) -> tuple[Span, ...]:
    """Return the lines that decide: those that ended the flow; of a changed one also the line of
    the change, and the line that decided before it and no longer does.
    """
    spans = list(one.walk.spans[:1])
    if one.is_changed:
        spans += one.changing[-1:]
        spans += one.parted.spans[:1] if one.parted is not None else ()
    return tuple(dict.fromkeys(spans))


def list_reasons(one: FlowResult) -> Iterator[str]:
    """Yield what ended a flow, or why nobody can tell, in words."""
    walk = one.walk
    if walk.state is FlowState.UNDECIDED:
        yield from _say_undecided(walk)
    elif walk.because:
        yield walk.because
    elif walk.branch is not None and walk.state is not FlowState.CONNECTS:
        yield spell_failure(walk.branch.failure)
    if one.is_changed and one.parted is not None and one.parted.spans:
        yield f"before: {one.parted.stage}: {spell_reason(one.parted.reason)}"


def _say_undecided(walk: FlowWalk) -> Iterator[str]:
    if walk.because:
        yield walk.because
    if walk.conversation is not None and walk.conversation.verdict in _SO_FAR:
        branch = walk.branch
        failed = f": {spell_failure(branch.failure)}" if branch and branch.works is False else ""
        yield f"as far as it was walked, it {_SO_FAR[walk.conversation.verdict]}{failed}"
    if walk.forbids:
        yield name_forbids(walk.forbids)
        yield from (say_forbids(reason) for reason in walk.forbids[:_QUESTIONS])
