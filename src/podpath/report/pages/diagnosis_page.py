"""A diagnosis as a page: the claim, the path, the deciding lines among their neighbors and the fix;
behind them everything else.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.checks.finding import WEIGHTY, Finding, Repair
from podpath.checks.owned import OwnerPlaces
from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.verdict import Verdict
from podpath.net.provenance import Gap, Span
from podpath.report.claims import spell_claim, spell_link
from podpath.report.clearance_words import say_forbids
from podpath.report.cure_words import say_fix
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.drawings.path_drawing import DrawnEnd, PathDrawing, choose_branch, draw_path
from podpath.report.drawings.path_svg import render_path_svg
from podpath.report.finding_text import describe_repair
from podpath.report.first_screen import find_first
from podpath.report.headline import render_headline
from podpath.report.owner_words import say_owned
from podpath.report.pages.page import (
    PageHead,
    Section,
    fold,
    list_items,
    quote_lines,
    render_page,
    show_commands,
    show_text,
    spell,
)
from podpath.report.pages.steps import list_packets
from podpath.report.quotes import quote
from podpath.report.sentences.questions import spell_answer, spell_fact
from podpath.report.style import Style

DECISIVE = 3
"""Deciding lines that stand on the first screen."""
COLORS = {Verdict.FAULT: "bad", Verdict.POSSIBLE: "warn", Verdict.NONE: "good"}


def render_diagnosis_page(diagnosis: Diagnosis) -> str:
    """Render the answer of a diagnosis as one HTML file."""
    finding, branch = find_first(diagnosis), find_branch(diagnosis)
    first = [draw(branch), _decisive(diagnosis, finding), _cure_or_question(diagnosis, finding)]
    return render_page(say_verdict(diagnosis), first, _list_sections(diagnosis, finding, branch))


def say_verdict(diagnosis: Diagnosis) -> PageHead:
    """Return the headline in its parts."""
    line = " ".join(part.strip() for part in render_headline(diagnosis, Style()))
    word, _, claim = line.partition(": ")
    return PageHead(word, COLORS[diagnosis.verdict], claim)


def find_branch(diagnosis: Diagnosis) -> Branch | None:
    """Return the branch that a picture shows: the one that the first finding is shown by, else one
    of the connections that were walked.
    """
    finding = find_first(diagnosis)
    shown = finding.shown_by if finding is not None else None
    if shown is not None and shown.traces:
        return shown
    return choose_branch(diagnosis.conversations)


def draw(branch: Branch | None) -> str:
    """Return the picture of a branch, its packets side by side; for a phone the one that tells,
    and the others to be opened. Nothing where none was walked.
    """
    if branch is None:
        return ""
    drawing = draw_path(branch)
    wide = render_path_svg(drawing)
    if len(drawing.packets) == 1:
        return f'<figure class="drawn">{wide}</figure>'
    telling, *others = sorted(drawing.single, key=_is_told_later)
    folded = "".join(fold(_title_packet(one), _draw_single(one)) for one in others)
    return (
        f'<figure class="drawn wide">{wide}</figure>'
        f'<figure class="drawn narrow">{_draw_single(telling)}{folded}</figure>'
    )


def _is_told_later(single: PathDrawing) -> bool:
    """Tell whether a phone shows another packet first: the one that broke the path."""
    return single.packets[0].ending is DrawnEnd.ARRIVED


def _draw_single(single: PathDrawing) -> str:
    return render_path_svg(single, styled=False)


def _title_packet(single: PathDrawing) -> str:
    packet = single.packets[0]
    return f"{packet.name}: {packet.words}"


def _decisive(diagnosis: Diagnosis, finding: Finding | None) -> str:
    spans: tuple[Span, ...] = finding.evidence[:DECISIVE] if finding is not None else ()
    if not spans:
        spans = tuple(span for one in diagnosis.forbids for span in one.spans)[:1]
    if not spans:
        return ""
    said = _show_owned(diagnosis.owners, spans)
    return f"<h2>The deciding lines</h2>{quote_lines(spans)}{said}"


def _show_owned(owners: OwnerPlaces, spans: Sequence[Span]) -> str:
    whose = say_owned(owners.list_owned(spans))
    return "".join(f'<p class="soft">{spell(one, 600)}</p>' for one in whose)


def _cure_or_question(diagnosis: Diagnosis, finding: Finding | None) -> str:
    certain = diagnosis.verdict is Verdict.FAULT and finding is not None and finding.certainty == 1
    if certain and finding is not None and finding.repairs:
        return f"<h2>The fix</h2>{_show_repair(finding.repairs[0])}"
    if diagnosis.questions:
        return f"<h2>Ask next</h2>{_show_question(diagnosis.questions[0])}"
    fix = say_fix(finding) if finding is not None else ""
    if fix:
        return f"<h2>The fix</h2><p>{spell(fix, 600)}</p>"
    return ""


def _show_repair(repair: Repair) -> str:
    effects = [spell(f"also changes: {effect}", 600) for effect in repair.side_effects]
    said = f"<p>{spell(describe_repair(repair), 600)}</p>"
    return said + show_commands(repair.commands) + list_items(effects)


def _show_question(question: Question) -> str:
    answers = [spell(spell_answer(answer), 600) for answer in question.decides]
    fact = f"<p>shows {spell(spell_fact(question.fact), 600)}</p>"
    return show_commands((question.ask,)) + fact + list_items(answers)


def _list_sections(
    diagnosis: Diagnosis, first: Finding | None, branch: Branch | None
) -> list[Section]:
    sections: list[Section] = []
    if first is not None:
        links = [spell(spell_link(link), 600) for link in first.reasoning]
        led = [spell(text, 600) for text in first.history]
        sections += [
            Section("Why", list_items(links, "ol")),
            Section("What led to it", list_items(led)),
            Section("All lines of evidence", quote_lines(first.evidence[DECISIVE:])),
            Section("Other fixes", "".join(_show_repair(one) for one in first.repairs[1:])),
        ]
    sections += list_packets(branch) if branch is not None else []
    others, owners = [one for one in diagnosis.findings if one is not first], diagnosis.owners
    weighty = [_show_finding(one, owners) for one in others if one.severity in WEIGHTY]
    lesser = [_show_finding(one, owners) for one in others if one.severity not in WEIGHTY]
    forbids = [spell(say_forbids(one), 600) for one in diagnosis.forbids]
    asked = "".join(_show_question(one) for one in diagnosis.questions)
    return [
        *sections,
        Section(f"Other faults and possibilities ({len(weighty)})", list_items(weighty)),
        Section(f"Also seen ({len(lesser)})", list_items(lesser)),
        Section("Why this is not an all-clear", list_items(forbids)),
        Section(f"Questions ({len(diagnosis.questions)})", asked),
        list_gaps(diagnosis.gaps),
        Section(
            "The whole answer as text",
            show_text(render_diagnosis(diagnosis, Style(color=True, verbose=True))),
        ),
    ]


def _show_finding(finding: Finding, owners: OwnerPlaces) -> str:
    sure = "" if finding.certainty == 1 else "possible: "
    repairs = finding.repairs[:1] if finding.certainty == 1 else ()
    commands = "".join(show_commands(one.commands) for one in repairs)
    claim = spell(sure + spell_claim(finding.claim), 600)
    spans = finding.evidence[:1]
    return f"{claim}{quote_lines(spans)}{_show_owned(owners, spans)}{commands}"


def list_gaps(gaps: tuple[Gap, ...]) -> Section:
    """Return the part on what was not read."""
    said = [f"{spell(quote(gap.span))}: {spell(gap.why, 600)}" for gap in gaps]
    return Section(f"Not read ({len(gaps)})", list_items(said))
