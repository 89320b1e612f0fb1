"""One finding as text: the claim, the path with its break, the reasons, the evidence, the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podpath.checks.finding import Finding, Repair
from podpath.net.provenance import Span
from podpath.report.claims import spell_claim, spell_link
from podpath.report.escape import escape, escape_command
from podpath.report.quotes import render_quotes
from podpath.report.style import Style

if TYPE_CHECKING:  # captures alone have no owners, who take longer to load
    from podpath.checks.owned import OwnerPlaces

INDENT = "    "


def render_finding(finding: Finding, style: Style, owners: OwnerPlaces | None = None) -> list[str]:
    """Write out everything that a finding says, below its claim; `owners` where whose the lines are
    is known.
    """
    lines: list[str] = []
    if finding.shown_by is not None and finding.shown_by.traces:
        from podpath.report.path import render_path  # noqa: PLC0415 - slow to load

        lines += _section("path", render_path(finding.shown_by, style, INDENT), style)
    lines += _section("why", _numbered(tuple(map(spell_link, finding.reasoning)), style), style)
    lines += _section(
        "what led to it",
        [line for text in finding.history for line in style.wrap(escape(text), INDENT)],
        style,
    )
    lines += _section(
        "evidence", render_quotes(finding.evidence, finding.marks, style, INDENT), style
    )
    lines += _section("whose", _whose(finding.evidence, style, owners), style)
    lines += _section(
        "breaks",
        [line for item in finding.breaks for line in style.wrap(escape(item), f"{INDENT}- ")],
        style,
    )
    for repair in finding.repairs:
        lines += _section("fix", _repair(repair, style), style)
    if finding.prevention:
        lines += _section("prevention", style.wrap(escape(finding.prevention), INDENT), style)
    return lines


def render_short(finding: Finding, style: Style, owners: OwnerPlaces | None = None) -> list[str]:
    """Write a finding of lesser weight in a few lines: its claim, where it is seen and whose that
    is, its first cure.
    """
    weight = style.paint(
        "warn" if finding.severity in ("risk", "fault") else "dim", finding.severity
    )
    lines = style.wrap(escape(spell_claim(finding.claim)), f"  {weight} ", "    ")
    spans = finding.evidence if style.verbose else finding.evidence[:2]
    lines += render_quotes(spans, finding.marks, style, INDENT)
    lines += _whose(spans, style, owners)
    for repair in finding.repairs[:1]:
        lines += [
            f"{INDENT}fix: {style.paint('command', escape_command(command))}"
            for command in repair.commands
        ]
    lines.append(f"{INDENT}{style.paint('dim', f'more: podpath explain {escape(finding.check)}')}")
    return lines


def _whose(spans: Sequence[Span], style: Style, owners: OwnerPlaces | None) -> list[str]:
    if owners is None:
        return []
    from podpath.report.owner_words import render_owned  # noqa: PLC0415 - slow to load

    return render_owned(owners.list_owned(spans), style, INDENT)


def _section(title: str, body: list[str], style: Style) -> list[str]:
    if body:
        return ["", f"  {style.paint('head', title)}", *body]
    return []


def _numbered(sentences: tuple[str, ...], style: Style) -> list[str]:
    if len(sentences) == 1:
        return style.wrap(escape(sentences[0]), INDENT)
    return [
        line
        for number, text in enumerate(sentences, 1)
        for line in style.wrap(escape(text), f"{INDENT}{number}. ")
    ]


def _repair(repair: Repair, style: Style) -> list[str]:
    lines = style.wrap(describe_repair(repair), INDENT)
    lines += [
        f"{INDENT}  {style.paint('command', escape_command(command))}"
        for command in repair.commands
    ]
    if repair.changes:
        from podpath.report.owner_words import render_undone  # noqa: PLC0415 - slow to load

        lines += render_undone(repair, style, INDENT)
    for effect in repair.side_effects:
        lines += style.wrap(
            f"also changes: {escape(effect)}", f"{INDENT}{style.paint('warn', '!')} ", f"{INDENT}  "
        )
    return lines


def describe_repair(repair: Repair) -> str:
    """Say what a repair does, and how far it is proven."""
    return f"{escape(repair.title)} ({_proof(repair)})"


def _proof(repair: Repair) -> str:
    if repair.side_effects:
        altered = "see below for what else it changes"
    else:
        altered = "no other walked connection changes"
    match repair.proven:
        case "simulated":
            return f"proven in simulation; {altered}"
        case "lab":
            return f"proven on a real kernel; {altered}"
        case _:
            return "not proven: no walk on stated facts covers it"
