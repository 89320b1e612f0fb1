"""A traced connection as terminal text: each packet's steps, with the rules quoted that decided
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation, Step, Trace, Undecided
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.questions import ask_for_clearance
from podpath.net.owners import Owned
from podpath.net.packet import spell_ends
from podpath.net.provenance import Span
from podpath.report.brief import DECISIVE, render_brief_answer, render_decisive
from podpath.report.clearance_words import name_forbids
from podpath.report.diagnosis_text import render_forbids
from podpath.report.escape import escape
from podpath.report.owner_words import render_owned
from podpath.report.path import describe_outcome, render_path
from podpath.report.quotes import quote
from podpath.report.sentences import spell_failure, spell_near, spell_reason
from podpath.report.style import Style
from podpath.report.walked_text import representative, verdict_in_words


def render_trace(
    conversation: Conversation,
    style: Style,
    forbids: Sequence[Forbids] = (),
    owners: OwnerPlaces = NOBODY,
) -> str:
    """Render a conversation: its verdict, the path in short, then each packet step by step, then
    the other branches.
    """
    color = {
        Reachability.ALWAYS: "good",
        Reachability.NEVER: "bad",
        Reachability.SOMETIMES: "bad",
    }.get(conversation.verdict, "warn")
    word, told = say_trace(conversation, forbids)
    painted = style.paint("warn" if forbids else color, f"{word}: ")
    lines = [painted + told, *render_forbids(forbids, style, owners)]
    branch = representative(conversation)
    spans, ask = list_decisive(branch), _next_question(conversation, branch, forbids)
    if style.brief:
        return render_brief_answer(lines[:1], spans, ask=ask)
    lines += render_decisive(spans, style, ask=ask)
    lines += render_owned(owners.list_owned(spans[:DECISIVE]), style, "  ")
    if branch is not None:
        if branch.failure is not None:
            lines += style.wrap(escape(spell_failure(branch.failure)), "  ")
        lines += ["", *render_path(branch, style, "  "), *_assumptions(branch.assumptions, style)]
        for trace in branch.traces:
            lines += ["", *_packet(trace, style)]
        lines += _whose(owners.list_of_branch(branch), style)
    lines += _others(conversation, branch, style)
    return "\n".join(lines) + "\n"


def say_trace(conversation: Conversation, forbids: Sequence[Forbids] = ()) -> tuple[str, str]:
    """Return the verdict's word and what it says."""
    said = f"{escape(str(conversation.probe))} {verdict_in_words(conversation)}"
    if not forbids:
        return escape(conversation.verdict), said
    return "UNDECIDED", f"{said} as far as it was walked, but {escape(name_forbids(forbids))}"


def list_decisive(branch: Branch | None) -> tuple[Span, ...]:
    """Return the lines that ended the connection, or left it undecided, else the last that decided
    anything of it.
    """
    if branch is None or branch.works:
        return ()
    return next((step.spans for step in reversed(branch.steps) if step.spans), ())


def _next_question(
    conversation: Conversation, branch: Branch | None, forbids: Sequence[Forbids]
) -> str:
    """Return the command whose output would tell more than this walk; a cause and its cure are what
    a diagnosis names.
    """
    if conversation.verdict is Reachability.NEVER and not forbids:
        return f"podpath diagnose ... --probe '{conversation.probe}'"
    asked = [question.ask for question in ask_for_clearance(forbids)]
    if branch is not None and branch.traces and not branch.works:
        outcome = branch.last.outcome
        if isinstance(outcome, Undecided):
            asked = [outcome.ask]
        else:
            asked = [*asked, *(made.ask for made in branch.assumptions)]
    return next((ask for ask in asked if ask), "")


def _packet(trace: Trace, style: Style) -> list[str]:
    title = (
        f"{escape(trace.name)} ({escape(trace.direction)}), from netns {escape(trace.start)}: "
        f"{escape(str(trace.packet))}"
    )
    lines = [style.paint("head", title)]
    width = max((len(escape(step.stage)) for step in trace.steps), default=0)
    netns = ""
    for step in trace.steps:
        if step.netns != netns:
            netns = step.netns
            lines.append(style.paint("dim", f"  netns {escape(netns)}"))
        lines += _step(step, width, style)
    return [*lines, f"  {style.hop.strip()} {describe_outcome(trace.outcome)}"]


def _whose(owned: Sequence[Owned], style: Style) -> list[str]:
    """Say once, below all packets, whose everything is that their steps quote and name."""
    lines = render_owned(owned, style, "  ")
    if lines:
        return ["", style.paint("head", "Whose"), *lines]
    return []


def _step(step: Step, width: int, style: Style) -> list[str]:
    head = f"    {escape(step.stage):<{width}}  "
    lines = style.wrap(f"{escape(step.decision)}: {escape(spell_reason(step.reason))}", head)
    if step.before != step.after and spell_ends(step.before) != spell_ends(step.after):
        lines.append(f"{' ' * len(head)}{spell_ends(step.before)} becomes {spell_ends(step.after)}")
    lines += [
        f"{' ' * len(head)}{style.paint('dim', escape(quote(span)))}"
        for span in dict.fromkeys(step.spans)
    ]
    if style.verbose:
        for near in step.near:
            lines += style.wrap(
                f"near miss: {escape(quote(near.span))}: {escape(spell_near(near.reason))}",
                " " * len(head),
            )
    return lines


def _assumptions(assumptions: tuple[Assumption, ...], style: Style) -> list[str]:
    if not assumptions:
        return []
    shown = assumptions if style.verbose else assumptions[:4]
    lines = ["", style.paint("head", "Assumed")]
    for made in shown:
        ask = " (the kernel chooses)" if made.random else ""
        if made.ask:
            ask = f" ({escape(made.ask)} would show it)"
        lines += style.wrap(f"{escape(made.fact)}: {_value(made)}{ask}", "  - ")
    if len(shown) < len(assumptions):
        lines.append(
            style.paint("dim", f"  and {len(assumptions) - len(shown)} more: --verbose lists all")
        )
    return lines


def _value(made: Assumption) -> str:
    """Spell an option by its value where that is short, with its meaning."""
    if isinstance(made.value, (str, int, bool)) and str(made.value) != made.meaning:
        return f"{escape(str(made.value))}, {escape(made.meaning)}"
    return escape(made.meaning)


def _others(conversation: Conversation, shown: Branch | None, style: Style) -> list[str]:
    others = [branch for branch in conversation.branches if branch is not shown]
    if not others:
        return []
    some = others if style.verbose else others[:4]
    more = " and more, not walked" if conversation.truncated else ""
    lines = ["", style.paint("head", f"Other branches ({len(others)}{more})")]
    lines += [line for branch in some for line in _branch(branch, shown, style)]
    if len(some) < len(others):
        lines.append(
            style.paint("dim", f"  and {len(others) - len(some)} more: --verbose lists all")
        )
    return lines


def _branch(branch: Branch, shown: Branch | None, style: Style) -> Iterator[str]:
    """Say where a branch differs from the one shown, and what becomes of the connection in it."""
    common = {(made.fact, made.rank) for made in shown.assumptions} if shown is not None else set()
    differs = [made for made in branch.assumptions if (made.fact, made.rank) not in common]
    when = "; ".join(f"{escape(made.fact)} is {_value(made)}" for made in differs) or "otherwise"
    match branch.works:
        case True:
            end = "it works"
        case False:
            end = f"it fails: {escape(spell_failure(branch.failure))}"
        case None:
            end = "it is undecided"
    yield from style.wrap(f"if {when}: {end}", "  - ")
