"""A diagnosis as terminal text that is grasped in ten seconds: the claim first, then the path, the
evidence, the cure.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.verdict import Verdict
from podpath.report.claims import spell_claim, spell_link
from podpath.report.clearance_words import say_forbids
from podpath.report.complaint_words import say_complained
from podpath.report.escape import escape, escape_command
from podpath.report.finding_text import INDENT, render_finding, render_short
from podpath.report.first_screen import render_brief, render_first_screen
from podpath.report.headline import render_headline
from podpath.report.owner_words import render_owned
from podpath.report.parting_text import render_partings
from podpath.report.quotes import left_out, quote, render_gaps
from podpath.report.sentences.questions import spell_answer, spell_fact
from podpath.report.style import Style, render_head
from podpath.report.walked_text import render_walked

ORDER = (
    "Ordered by how much of the failure each explains, then by how little it assumes, then by how "
    "common it is."
)
"""Why possibilities are told in this order."""
SHOWN, FORBIDS_SHOWN = 3, 6
"""How many of a long list are shown where the reader did not ask for all."""


def render_diagnosis(diagnosis: Diagnosis, style: Style) -> str:
    """Render the answer: one screen of it, or all where the reader asked; every line of it is safe
    to print.
    """
    if style.brief:
        return "\n".join(render_brief(diagnosis)) + "\n"
    if style.verbose:
        lines = _everything(diagnosis, style)
    else:
        lines = render_first_screen(diagnosis, style)
    return "\n".join(lines) + "\n"


def _everything(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines = render_headline(diagnosis, style)
    if diagnosis.verdict is Verdict.FAULT:
        lines += _faults(diagnosis, style)
    elif diagnosis.verdict is Verdict.POSSIBLE:
        lines += render_forbids(diagnosis.forbids, style, diagnosis.owners)
        lines += _possibilities(diagnosis, style)
    lesser = [finding for finding in diagnosis.findings if finding.severity not in WEIGHTY]
    if lesser:
        lines += ["", style.paint("head", "Also seen")]
        lines += [
            line for finding in lesser for line in render_short(finding, style, diagnosis.owners)
        ]
    lines += render_walked(diagnosis, style)
    if diagnosis.verdict is not Verdict.POSSIBLE:
        lines += _questions(diagnosis.questions, style)
    lines += render_partings(diagnosis.partings, style)
    return lines + _remarks(diagnosis, style)


def render_forbids(
    forbids: Sequence[Forbids], style: Style, owners: OwnerPlaces = NOBODY
) -> list[str]:
    """List what forbids the all-clear, each with the lines that it stands on and whose they are."""
    if not forbids:
        return []
    lines = ["", style.paint("head", "Why this is not an all-clear")]
    shown = forbids if style.verbose else forbids[:FORBIDS_SHOWN]
    for one in shown:
        lines += style.wrap(escape(say_forbids(one)), "  - ")
        spans = one.spans[: None if style.verbose else 1]
        lines += [f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in spans]
        lines += render_owned(owners.list_owned(spans), style, INDENT)
    return lines + left_out(len(forbids) - len(shown), "reason", style)


def _faults(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines: list[str] = []
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    sure = [finding for finding in weighty if finding.certainty == 1] or weighty
    for number, finding in enumerate(sure):
        if number:
            lines += [
                "",
                *render_head(
                    style,
                    "bad",
                    "AND" if finding.severity == Severity.CAUSE else "FAULT",
                    spell_claim(finding.claim),
                ),
            ]
        lines += render_finding(finding, style, diagnosis.owners)
        lines += ["", f"  {style.paint('dim', f'more: podpath explain {escape(finding.check)}')}"]
    unsure = [finding for finding in weighty if finding not in sure]
    if unsure:
        lines += [
            "",
            style.paint("head", "Possible causes of the other failures"),
            *_alternatives(unsure, diagnosis.owners, style),
        ]
    return lines


def _possibilities(diagnosis: Diagnosis, style: Style) -> list[str]:
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    said = _alternatives(weighty, diagnosis.owners, style)
    return said + _questions(diagnosis.questions, style)


def _alternatives(findings: Sequence[Finding], owners: OwnerPlaces, style: Style) -> list[str]:
    lines: list[str] = []
    for number, finding in enumerate(findings, 1):
        lines += ["", *style.wrap(escape(spell_claim(finding.claim)), f"{number}. ")]
        lines += _why_uncertain(finding, style)
        for link in (*finding.reasoning, *finding.history):
            lines += style.wrap(escape(spell_link(link)), "   ")
        spans = finding.evidence[:SHOWN]
        lines += [f"     {style.paint('dim', escape(quote(span)))}" for span in spans]
        lines += render_owned(owners.list_owned(spans), style, "     ")
        lines += [
            line
            for item in finding.breaks
            for line in style.wrap(escape(item), "   explains: ", "     ")
        ]
        for repair in finding.repairs[:1]:
            lines += [
                f"   if so: {style.paint('command', escape_command(command))}"
                for command in repair.commands
            ]
            lines += (
                [] if repair.commands else style.wrap(escape(repair.title), "   if so: ", "     ")
            )
    if len(findings) > 1:
        return [*lines, "", *style.wrap(ORDER, "")]
    return lines


def _why_uncertain(finding: Finding, style: Style) -> list[str]:
    """Say what a possibility rests on that no output shows."""
    if not finding.rests_on:
        return []
    guesses = "; ".join(escape(guess.why) for guess in finding.rests_on[:SHOWN])
    return style.wrap(f"It assumes what no output shows ({guesses}).", "   ")


def _questions(questions: Sequence[Question], style: Style) -> list[str]:
    if not questions:
        return []
    lines = ["", style.paint("head", "Ask next")]
    shown = questions if style.verbose else questions[:SHOWN]
    for question in shown:
        lines.append(f"  {style.paint('command', escape(question.ask))}")
        lines += style.wrap(f"shows {escape(spell_fact(question.fact))}", INDENT)
        lines += [
            line
            for answer in question.decides
            for line in style.wrap(escape(spell_answer(answer)), f"{INDENT}- ")
        ]
    return lines + left_out(len(questions) - len(shown), "question", style)


def _remarks(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines: list[str] = []
    for contradiction in diagnosis.contradictions:
        lines += style.wrap(f"{escape(contradiction.fact)}: {escape(contradiction.meaning)}", "  ")
        lines += [
            f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in contradiction.spans
        ]
        owned = diagnosis.owners.list_owned(contradiction.spans)
        lines += render_owned(owned, style, INDENT)
    if lines:
        lines = ["", style.paint("head", "Outputs that disagree"), *lines]
    said = (*map(say_complained, diagnosis.complained), *diagnosis.notes)
    notes = [line for note in said for line in style.wrap(escape(note), "  - ")]
    if notes:
        lines += ["", style.paint("head", "Good to know"), *notes]
    return lines + render_gaps(diagnosis.gaps, style)
