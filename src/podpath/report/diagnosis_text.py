"""A diagnosis as terminal text that is grasped in ten seconds: the claim first, then the path, the evidence, the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from podpath.checks.finding import Finding
from podpath.datapath.trace import Branch, Conversation
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.verdict import Verdict
from podpath.net.provenance import Gap
from podpath.report.clearance_words import name_forbids, say_forbids
from podpath.report.escape import escape
from podpath.report.finding_text import INDENT, render_finding, render_short
from podpath.report.parting_text import render_partings
from podpath.report.path import describe_outcome, render_path
from podpath.report.quotes import quote
from podpath.report.sentences import spell_failure
from podpath.report.sentences.narrative import spell_claim, spell_link
from podpath.report.sentences.questions import spell_answer, spell_fact
from podpath.report.style import Style

WEIGHTY = ("cause", "fault")
ORDER = "First stands what explains most of what fails, then what takes least for granted, then what is met most often."
"""Why possibilities are told in this order."""
SHOWN, FORBIDS_SHOWN, WALKED_SHOWN = 3, 6, 6
"""How many of a long list are shown where the reader did not ask for all."""


def render_diagnosis(diagnosis: Diagnosis, style: Style) -> str:
    """Render the whole answer; every line of it is safe to print."""
    lines = _headline(diagnosis, style)
    if diagnosis.verdict is Verdict.FAULT:
        lines += _faults(diagnosis.findings, style)
    elif diagnosis.verdict is Verdict.POSSIBLE:
        lines += render_forbids(diagnosis.forbids, style)
        lines += _possibilities(diagnosis, style)
    lesser = [finding for finding in diagnosis.findings if finding.severity not in WEIGHTY]
    if lesser:
        lines += ["", style.paint("head", "Also seen")]
        lines += [line for finding in lesser for line in render_short(finding, style)]
    lines += _walked(diagnosis, style)
    if diagnosis.verdict is not Verdict.POSSIBLE:
        lines += _questions(diagnosis.questions, style)
    lines += render_partings(diagnosis.partings, style)
    lines += _remarks(diagnosis, style)
    return "\n".join(lines) + "\n"


def _headline(diagnosis: Diagnosis, style: Style) -> list[str]:
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    weighty = (
        [finding for finding in weighty if finding.certainty == 1] or weighty if diagnosis.verdict is Verdict.FAULT else weighty
    )
    match diagnosis.verdict:
        case Verdict.FAULT if not weighty:
            return _head(style, "bad", "FAULT", "no finding names it")
        case Verdict.FAULT:
            word = "CAUSE" if weighty[0].severity == "cause" else "FAULT"
            where = f"on {diagnosis.node}: " if diagnosis.node else ""
            return _head(style, "bad", word, where + spell_claim(weighty[0].claim))
        case Verdict.POSSIBLE if diagnosis.forbids:
            return _head(style, "warn", "UNDECIDED", _undecided(diagnosis))
        case Verdict.POSSIBLE:
            count = len(weighty)
            what = (
                f"{count} causes are possible"
                if count > 1
                else "one cause is possible"
                if count
                else "no stated fact explains what fails"
            )
            tell = f"; {diagnosis.questions[0].ask} tells" if diagnosis.questions else ""
            return _head(style, "warn", "UNDECIDED", what + tell)
        case Verdict.NONE:
            return _head(style, "good", "NOTHING WRONG FOUND", _walked_in_words(diagnosis.conversations))
        case _:
            assert_never(diagnosis.verdict)


def _walked_in_words(conversations: Sequence[Conversation]) -> str:
    """Say what was walked, and how much of it works whatever is not known."""
    works = sum(conversation.verdict == "ALWAYS" for conversation in conversations)
    if len(conversations) == 1:
        return f"{conversations[0].probe} {'works, walked to its end' if works else 'was walked, and is open'}"
    return f"{works} of {len(conversations)} walked connections work"


def _undecided(diagnosis: Diagnosis) -> str:
    """Say in one line what was looked at, what was not, and the one thing to give next."""
    looked = f"{_walked_in_words(diagnosis.conversations)}, but" if diagnosis.conversations else "no fault was found, but"
    asked = f"; give next: {diagnosis.questions[0].ask}" if diagnosis.questions else ""
    return f"{looked} {name_forbids(diagnosis.forbids)}{asked}"


def render_forbids(forbids: Sequence[Forbids], style: Style) -> list[str]:
    """List what forbids the all-clear, each with the lines that it stands on."""
    if not forbids:
        return []
    lines = ["", style.paint("head", "Why this is no all-clear")]
    shown = forbids if style.verbose else forbids[:FORBIDS_SHOWN]
    for one in shown:
        lines += style.wrap(escape(say_forbids(one)), "  - ")
        lines += [f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in one.spans[: None if style.verbose else 1]]
    return lines + _left_out(len(forbids) - len(shown), "reason", style)


def _head(style: Style, colour: str, word: str, text: str) -> list[str]:
    lines = style.wrap(escape(text), f"{word}: ", "  ")
    painted = style.paint(colour, f"{word}:")
    return [painted + lines[0][len(word) + 1 :], *lines[1:]]


def _faults(findings: Sequence[Finding], style: Style) -> list[str]:
    lines: list[str] = []
    weighty = [finding for finding in findings if finding.severity in WEIGHTY]
    sure = [finding for finding in weighty if finding.certainty == 1] or weighty
    for number, finding in enumerate(sure):
        if number:
            lines += ["", *_head(style, "bad", "AND" if finding.severity == "cause" else "FAULT", spell_claim(finding.claim))]
        lines += render_finding(finding, style)
        lines += ["", f"  {style.paint('dim', f'more: podpath explain {escape(finding.check)}')}"]
    unsure = [finding for finding in weighty if finding not in sure]
    if unsure:
        lines += ["", style.paint("head", "What fails besides, may be because"), *_alternatives(unsure, style)]
    return lines


def _possibilities(diagnosis: Diagnosis, style: Style) -> list[str]:
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    return _alternatives(weighty, style) + _questions(diagnosis.questions, style)


def _alternatives(findings: Sequence[Finding], style: Style) -> list[str]:
    lines: list[str] = []
    for number, finding in enumerate(findings, 1):
        lines += ["", *style.wrap(escape(spell_claim(finding.claim)), f"{number}. ")]
        lines += _why_uncertain(finding, style)
        for link in (*finding.reasoning, *finding.history):
            lines += style.wrap(escape(spell_link(link)), "   ")
        lines += [f"     {style.paint('dim', escape(quote(span)))}" for span in finding.evidence[:SHOWN]]
        lines += [line for item in finding.breaks for line in style.wrap(escape(item), "   explains: ", "     ")]
        for repair in finding.repairs[:1]:
            lines += [f"   if so: {style.paint('command', escape(command))}" for command in repair.commands]
            lines += [] if repair.commands else style.wrap(escape(repair.title), "   if so: ", "     ")
    return [*lines, "", *style.wrap(ORDER, "")] if len(findings) > 1 else lines


def _why_uncertain(finding: Finding, style: Style) -> list[str]:
    """Say what a possibility rests on that no output shows."""
    if not finding.rests_on:
        return []
    guesses = "; ".join(escape(guess.why) for guess in finding.rests_on[:SHOWN])
    return style.wrap(f"It rests on what no output shows ({guesses}).", "   ")


def _questions(questions: Sequence[Question], style: Style) -> list[str]:
    if not questions:
        return []
    lines = ["", style.paint("head", "Ask next")]
    shown = questions if style.verbose else questions[:SHOWN]
    for question in shown:
        lines.append(f"  {style.paint('command', escape(question.ask))}")
        lines += style.wrap(f"tells {escape(spell_fact(question.fact))}", INDENT)
        lines += [line for answer in question.decides for line in style.wrap(escape(spell_answer(answer)), f"{INDENT}- ")]
    return lines + _left_out(len(questions) - len(shown), "question", style)


def _walked(diagnosis: Diagnosis, style: Style) -> list[str]:
    shown_already = {id(finding.shown_by) for finding in diagnosis.findings if finding.shown_by is not None}
    lines: list[str] = []
    walked = diagnosis.conversations if style.verbose else diagnosis.conversations[:WALKED_SHOWN]
    for conversation in walked:
        branch = representative(conversation)
        lines += style.wrap(
            f"{escape(str(conversation.probe))}: {verdict_in_words(conversation)}", f"  {_mark(conversation, style)} ", "    "
        )
        if branch is not None and branch.failure and id(branch) not in shown_already:
            lines += style.wrap(escape(spell_failure(branch.failure)), INDENT)
            if style.verbose:
                lines += render_path(branch, style, INDENT)
    lines += _left_out(len(diagnosis.conversations) - len(walked), "connection", style)
    return ["", style.paint("head", "Walked"), *lines] if lines else []


def representative(conversation: Conversation) -> Branch | None:
    """Give the branch that stands for the conversation: the first that fails where any does, else the likeliest."""
    failing = next((branch for branch in conversation.branches if branch.works is False), None)
    if failing is not None and conversation.verdict in ("NEVER", "SOMETIMES"):
        return failing
    return conversation.branches[0] if conversation.branches else None


def verdict_in_words(conversation: Conversation) -> str:
    """Say what became of a connection: `works`, `never works`, `works in some branches`, or why it is undecided."""
    match conversation.verdict:
        case "ALWAYS":
            return "works"
        case "NEVER":
            return "never works"
        case "SOMETIMES":
            failing = sum(branch.works is False for branch in conversation.branches)
            return f"works sometimes: fails in {failing} of {len(conversation.branches)} branches"
        case _:
            last = conversation.branches[0].traces[-1:] if conversation.branches else ()
            return describe_outcome(last[0].outcome) if last else "undecided"


def _mark(conversation: Conversation, style: Style) -> str:
    return {"ALWAYS": style.arrived, "NEVER": style.broken, "SOMETIMES": style.broken}.get(conversation.verdict, style.doubtful)


def _remarks(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines: list[str] = []
    for contradiction in diagnosis.contradictions:
        lines += style.wrap(f"{escape(contradiction.fact)}: {escape(contradiction.meaning)}", "  ")
        lines += [f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in contradiction.spans]
    if lines:
        lines = ["", style.paint("head", "Outputs that disagree"), *lines]
    notes = [line for note in diagnosis.notes for line in style.wrap(escape(note), "  - ")]
    if notes:
        lines += ["", style.paint("head", "Good to know"), *notes]
    return lines + render_gaps(diagnosis.gaps, style)


def render_gaps(gaps: Sequence[Gap], style: Style) -> list[str]:
    """List what could not be read: the first few, or all where the reader asked."""
    if not gaps:
        return []
    shown = gaps if style.verbose else gaps[:SHOWN]
    lines = ["", style.paint("head", f"Not read ({len(gaps)})")]
    for gap in shown:
        lines.append(f"  {escape(quote(gap.span))}")
        lines += style.wrap(escape(gap.why), INDENT)
    return lines + _left_out(len(gaps) - len(shown), "line", style)


def _left_out(count: int, what: str, style: Style) -> list[str]:
    return [style.paint("dim", f"  and {count} {what}{'s' if count > 1 else ''} more: --verbose lists all")] if count > 0 else []
