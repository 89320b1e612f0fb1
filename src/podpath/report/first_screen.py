"""The first screen of a diagnosis: the verdict, the line that decides, the cure or the question,
then what else has room.

A terminal shows 24 lines. What decides stands in them whatever else was found; the rest is one
option away, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.finding import WEIGHTY, Finding, Repair, Severity
from podpath.checks.owned import OwnerPlaces
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.verdict import Verdict
from podpath.net.provenance import Span
from podpath.report.claims import spell_claim
from podpath.report.clearance_words import say_forbids
from podpath.report.cure_words import say_fix
from podpath.report.escape import escape, escape_command
from podpath.report.finding_text import INDENT, describe_repair
from podpath.report.headline import render_headline
from podpath.report.owner_words import render_owned, render_undone
from podpath.report.path import render_path
from podpath.report.quotes import quote, render_quotes
from podpath.report.sentences.questions import spell_answer, spell_fact
from podpath.report.style import Style, render_head
from podpath.report.walked_text import WALKED_SHOWN, render_conversation

SCREEN = 24
"""Lines of a terminal."""
QUOTED, COMMANDS, EFFECTS, ANSWERS = 7, 8, 1, 2
"""Lines of evidence, commands of a cure, what else it changes, and answers of a question that the
first screen has room for.
"""
LONGEST_QUOTE = 180
"""Columns of a quoted line: the words that decide stand in it, the whole of it is one option
away.
"""


def render_first_screen(diagnosis: Diagnosis, style: Style) -> list[str]:
    """Render the verdict with its line and its cure or question, and as much of the rest as one
    screen holds.
    """
    lines = render_headline(diagnosis, style)
    first = find_first(diagnosis)
    if first is not None:
        spans, quoted = _decisive(first, style)
        lines += [*quoted, *render_owned(diagnosis.owners.list_owned(spans), style, INDENT)]
    lines += _cure_or_question(diagnosis, first, style)
    skipped = False
    for part in _further(diagnosis, first, style):
        if len(lines) + len(part) < SCREEN - 1:
            lines += part
        else:
            skipped = True
    more = [f"podpath explain {escape(first.check)}: about this fault"] if first is not None else []
    if skipped or first is not None or diagnosis.forbids or diagnosis.gaps:
        more = ["--verbose: reasons, evidence and everything else", *more]
    if more:
        return [
            *lines,
            "",
            *(f"  {style.paint('dim', text)}" for text in ["; ".join(more)] if text),
        ]
    return lines


def render_brief(diagnosis: Diagnosis) -> list[str]:
    """Render three lines: the verdict, the line that decides, the cure or the question."""
    first = find_first(diagnosis)
    headline = " ".join(line.strip() for line in render_headline(diagnosis, Style()))
    spans: Sequence[Span] = [span for one in diagnosis.forbids for span in one.spans]
    if first is not None:
        spans = first.evidence
    lines = [headline, quote(spans[0]) if spans else "no deciding line"]
    if first is not None and first.certainty == 1 and diagnosis.verdict is Verdict.FAULT:
        repairs = first.repairs
    else:
        repairs = ()
    if repairs:
        cure = " && ".join(map(escape_command, repairs[0].commands))
        return [*lines, f"fix: {cure or escape(repairs[0].title)}"]
    if diagnosis.questions:
        return [*lines, f"ask: {escape(diagnosis.questions[0].ask)}"]
    if first is not None:
        return [*lines, f"fix: {escape(say_fix(first))}"]
    return [headline, *(_summary(diagnosis) for _ in diagnosis.conversations[:1])]


def find_first(diagnosis: Diagnosis) -> Finding | None:
    """Return the finding that the headline speaks of."""
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    if diagnosis.verdict is Verdict.FAULT:
        weighty = [finding for finding in weighty if finding.certainty == 1] or weighty
    unnamed = diagnosis.verdict is Verdict.POSSIBLE and diagnosis.forbids
    if weighty and diagnosis.verdict is not Verdict.NONE and not unnamed:
        return weighty[0]
    return None


def _decisive(finding: Finding, style: Style) -> tuple[tuple[Span, ...], list[str]]:
    """Quote the line that decides, and the next ones that have room; return which, with the
    text.
    """
    spans = finding.evidence[:3]
    while spans:
        quoted = render_quotes(spans, finding.marks, style, INDENT, LONGEST_QUOTE)
        if len(quoted) <= QUOTED or len(spans) == 1:
            return spans, quoted
        spans = spans[:-1]
    return (), []


def _cure_or_question(diagnosis: Diagnosis, first: Finding | None, style: Style) -> list[str]:
    if (
        first is not None
        and diagnosis.verdict is Verdict.FAULT
        and first.certainty == 1
        and first.repairs
    ):
        return _cure(first.repairs[0], "fix", style)
    if diagnosis.questions:
        return _ask(diagnosis.questions[0], style)
    if first is not None and first.repairs:
        return ["", *style.wrap(f"if so: {escape(first.repairs[0].title)}", "  ", INDENT)]
    fix = say_fix(first) if first is not None else ""
    if fix:
        return style.wrap(escape(fix), f"  {style.paint('head', 'fix:')} ", INDENT)
    return []


def _cure(repair: Repair, title: str, style: Style) -> list[str]:
    lines = ["", *style.wrap(describe_repair(repair), f"  {title}: ", INDENT)]
    shown = repair.commands if len(repair.commands) <= COMMANDS else ()
    lines += [f"{INDENT}  {style.paint('command', escape_command(command))}" for command in shown]
    lines += render_undone(repair, style, INDENT)
    for effect in repair.side_effects[:EFFECTS]:
        lines += style.wrap(
            f"also changes: {escape(effect)}", f"{INDENT}{style.paint('warn', '!')} ", f"{INDENT}  "
        )
    if len(repair.side_effects) > EFFECTS:
        lines.append(
            f"{INDENT}{style.paint('warn', '!')} and {len(repair.side_effects) - EFFECTS} more: "
            "--verbose"
        )
    if not shown and repair.commands:
        many = f"{len(repair.commands)} commands: --verbose lists them"
        lines.append(f"{INDENT}  {style.paint('dim', many)}")
    return lines


def _ask(question: Question, style: Style) -> list[str]:
    lines = ["", f"  ask next: {style.paint('command', escape(question.ask))}"]
    lines += style.wrap(f"shows {escape(spell_fact(question.fact))}", INDENT)
    for answer in question.decides[:ANSWERS]:
        lines += style.wrap(escape(spell_answer(answer)), f"{INDENT}- ")
    return lines


def _further(diagnosis: Diagnosis, first: Finding | None, style: Style) -> Iterator[list[str]]:
    """Yield what else is worth a place on the screen, the weightiest first."""
    others = [
        finding
        for finding in diagnosis.findings
        if finding.severity in WEIGHTY and finding is not first
    ]
    for other in others:
        yield _other(other, diagnosis.owners, style)
    if diagnosis.verdict is Verdict.POSSIBLE:
        yield from (_forbids(one, diagnosis.owners, style) for one in diagnosis.forbids[:3])
    if (
        first is not None
        and first.shown_by is not None
        and first.shown_by.traces
        and diagnosis.verdict is Verdict.FAULT
    ):
        yield ["", f"  {style.paint('head', 'path')}", *render_path(first.shown_by, style, INDENT)]
    if first is None and diagnosis.conversations:
        yield ["", style.paint("head", "Walked"), *_walked(diagnosis, style)]
    elif diagnosis.conversations:
        yield ["", f"  {_summary(diagnosis)}"]
    for note in diagnosis.notes[:3]:
        yield style.wrap(escape(note), "  - ")
    for finding in diagnosis.findings:
        if finding.severity not in WEIGHTY:
            yield style.wrap(escape(spell_claim(finding.claim)), f"  {finding.severity}: ", INDENT)
    if diagnosis.contradictions:
        yield [f"  {_count(diagnosis.contradictions, 'pair')} of outputs disagree"]
    if diagnosis.gaps:
        yield [
            "",
            f"  Not read ({len(diagnosis.gaps)}), first {escape(quote(diagnosis.gaps[0].span))}",
        ]


def _other(finding: Finding, owners: OwnerPlaces, style: Style) -> list[str]:
    """Write another fault or possibility: its claim, its line and whose that is, its first cure."""
    claim = spell_claim(finding.claim)
    if finding.certainty == 1:
        lines = [
            "",
            *render_head(
                style, "bad", "AND" if finding.severity == Severity.CAUSE else "FAULT", claim
            ),
        ]
    else:
        lines = ["", *style.wrap(escape(claim), "  or: ", INDENT)]
    lines += render_quotes(finding.evidence[:1], (), style, INDENT, LONGEST_QUOTE)[:2]
    lines += render_owned(owners.list_owned(finding.evidence[:1]), style, INDENT)
    commands = finding.repairs[0].commands[:2] if finding.repairs and finding.certainty == 1 else ()
    return lines + [
        f"{INDENT}fix: {style.paint('command', escape_command(command))}" for command in commands
    ]


def _forbids(one: Forbids, owners: OwnerPlaces, style: Style) -> list[str]:
    lines = style.wrap(escape(say_forbids(one)), "  - ")
    spans = one.spans[:1]
    lines += [f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in spans]
    return lines + render_owned(owners.list_owned(spans), style, INDENT)


def _walked(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines: list[str] = []
    for conversation in diagnosis.conversations[:WALKED_SHOWN]:
        lines += render_conversation(diagnosis, conversation, style)
    left = len(diagnosis.conversations) - WALKED_SHOWN
    if left > 0:
        return [*lines, f"  and {left} more"]
    return lines


def _summary(diagnosis: Diagnosis) -> str:
    walked = diagnosis.conversations
    works = sum(map(diagnosis.is_shown_to_work, walked))
    unproven = sum(conversation.verdict is Reachability.ALWAYS for conversation in walked) - works
    parts: list[str] = []
    if works or not unproven:
        parts.append("1 always works" if works == 1 else f"{works} always work")
    if unproven:
        parts.append(f"{unproven} not shown to fail")
    return f"walked {_count(walked, 'connection')}; {', '.join(parts)}"


def _count(things: Sequence[object], name: str) -> str:
    if len(things) == 1:
        return f"1 {name}"
    return f"{len(things)} {name}s"
