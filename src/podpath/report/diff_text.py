"""Two compared nodes as terminal text: the difference that explains first, with both nodes' lines
and what makes them alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from podpath.checks.owned import OwnerPlaces
from podpath.diagnosis.difference.compare import ComparedOutcome, MinimalCure, NodeComparison
from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.smallest import Taken
from podpath.diagnosis.proof import describe
from podpath.diagnosis.questions import ask_for_clearance
from podpath.report.brief import render_brief_answer, render_decisive
from podpath.report.claims import spell_claim
from podpath.report.clearance_words import name_forbids
from podpath.report.diagnosis_text import render_forbids
from podpath.report.escape import escape, escape_command
from podpath.report.owner_words import render_owned
from podpath.report.quotes import quote, render_gaps, render_quotes
from podpath.report.sentences import spell_failure
from podpath.report.style import Style
from podpath.report.walked_text import representative

T = TypeVar("T")
INDENT = "    "
SHOWN = 5
"""How many of a long list are shown where the reader did not ask for all."""


def render_diff(comparison: NodeComparison, style: Style) -> str:
    """Render the whole answer; every line of it is safe to print."""
    lines = _headline(comparison, style)
    deciding = comparison.explanations[0].differences if comparison.explanations else ()
    spans = [span for each in deciding for span in (*each.here[:1], *each.there[:1])]
    fix = [command for each in deciding for command in each.commands]
    ask = next(
        (question.ask for question in ask_for_clearance(comparison.forbids) if question.ask), ""
    )
    if style.brief:
        return render_brief_answer(lines, spans, fix=fix, ask=ask)
    lines += render_decisive(spans, style, fix=fix, ask=ask)
    for number, explanation in enumerate(comparison.explanations):
        if number:
            lines += ["", *_title("AND", "bad", explanation.differences, style)]
        lines += _explanation(explanation, comparison.owners, style)
    lines += _walked(comparison, style)
    lines += _rest(comparison, style)
    lines += render_gaps(comparison.gaps, style)
    return "\n".join(lines) + "\n"


def _headline(comparison: NodeComparison, style: Style) -> list[str]:
    count = len(comparison.differences)
    walked = len(comparison.outcomes)
    work = "1 walked connection works" if walked == 1 else f"{walked} walked connections work"
    differ = "1 difference" if count == 1 else f"{count or 'no'} differences"
    match comparison.verdict:
        case "explained":
            return _title("DIFFERENCE", "bad", comparison.explanations[0].differences, style)
        case "unexplained":
            if count:
                what = f"none of {differ} fixes it, alone or together"
            else:
                what = "nothing known about both nodes differs"
            return _head("UNEXPLAINED", "warn", f"it fails here, but {what}", style)
        case "works":
            what = work if walked else "there is no connection to walk"
            return _head(
                "NOTHING FAILS HERE",
                "good",
                f"{what}; {differ}; --probe asks about another connection",
                style,
            )
        case _ if comparison.forbids:
            looked = f"{work} as far as is known" if walked else "no fault"
            what = f"{looked}, but {escape(name_forbids(comparison.forbids))}; {differ}"
            return [
                *_head("UNDECIDED", "warn", what, style),
                *render_forbids(comparison.forbids, style, comparison.owners),
            ]
        case _:
            return _head(
                "UNDECIDED", "warn", "this node's evidence does not decide whether it fails", style
            )


def _title(word: str, color: str, differences: Taken, style: Style) -> list[str]:
    return _head(word, color, "; and ".join(escape(each.words) for each in differences), style)


def _head(word: str, color: str, text: str, style: Style) -> list[str]:
    lines = style.wrap(text, f"{word}: ", "  ")
    return [style.paint(color, f"{word}:") + lines[0][len(word) + 1 :], *lines[1:]]


def _explanation(explanation: MinimalCure, owners: OwnerPlaces, style: Style) -> list[str]:
    lines = ["", f"  {style.paint('head', 'explains')}"]
    for probe in explanation.probes:
        lines += style.wrap(
            f"{escape(str(probe))} fails here, and works once this matches the other node",
            f"{INDENT}- ",
            f"{INDENT}  ",
        )
    for finding in explanation.findings:
        lines += style.wrap(
            f"{escape(finding.check)}: {escape(spell_claim(finding.claim))}",
            f"{INDENT}- ",
            f"{INDENT}  ",
        )
    here = [span for each in explanation.differences for span in each.here]
    there = [span for each in explanation.differences for span in each.there]
    for title, spans in (("here", here), ("there", there)):
        if spans:
            quoted = render_quotes(spans, (), style, INDENT)
            lines += ["", f"  {style.paint('head', title)}", *quoted]
            lines += render_owned(owners.list_owned(spans), style, INDENT)
    commands = [command for each in explanation.differences for command in each.commands]
    if commands:
        lines += ["", f"  {style.paint('head', 'to match it here')} (proven in simulation)"]
        lines += [
            f"{INDENT}{style.paint('command', escape_command(command))}" for command in commands
        ]
    if explanation.others:
        lines += ["", f"  {style.paint('head', 'any of these would do as well')}"]
        for taken in _few(explanation.others, style):
            words = [escape(each.words) for each in taken]
            lines.append(f"{INDENT}- {'; and '.join(words)}")
        lines += _more(len(explanation.others), style)
    return lines


def _walked(comparison: NodeComparison, style: Style) -> list[str]:
    lines: list[str] = []
    for outcome in comparison.outcomes:
        sign = style.arrived if describe(outcome.here) == "works" else style.doubtful
        if outcome.fails_here:
            sign = style.broken
        words = (
            f"{escape(str(outcome.probe))}: {describe(outcome.here)} here, "
            f"{describe(outcome.there)} there"
        )
        lines += style.wrap(words, f"  {sign} ", INDENT)
        lines += _failure(outcome, style)
        if outcome.probe in comparison.unexplained:
            lines += style.wrap("No difference that could be tried fixes it.", INDENT)
    if lines:
        return ["", style.paint("head", "Walked"), *lines]
    return []


def _failure(outcome: ComparedOutcome, style: Style) -> list[str]:
    branch = representative(outcome.here) if outcome.fails_here else None
    if branch is not None and branch.failure:
        return style.wrap(f"here: {escape(spell_failure(branch.failure))}", INDENT)
    return []


def _rest(comparison: NodeComparison, style: Style) -> list[str]:
    rest = comparison.rest
    if not rest:
        return []
    kinds = Counter(each.kind for each in rest)
    counted = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    lines = ["", style.paint("head", f"Also differs ({counted})")]
    for each in _few(rest, style):
        lines += style.wrap(_words(each), "  - ", INDENT)
        if style.verbose:
            spans = (*each.here[:1], *each.there[:1])
            lines += [f"{INDENT}{style.paint('dim', escape(quote(span)))}" for span in spans]
            lines += render_owned(comparison.owners.list_owned(spans), style, INDENT)
    return lines + _more(len(rest), style)


def _words(each: Difference) -> str:
    return escape(each.words) + (
        "" if each.can_be_taken else " (not tried: the model cannot change it)"
    )


def _few(items: Sequence[T], style: Style) -> Sequence[T]:
    return items if style.verbose else items[:SHOWN]


def _more(count: int, style: Style) -> list[str]:
    if style.verbose or count <= SHOWN:
        return []
    return [style.paint("dim", f"  and {count - SHOWN} more: --verbose lists all")]
