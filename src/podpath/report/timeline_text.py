"""A chronicle as terminal text: what broke it, then the other suspects, then what happened in order
with the window marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from podpath.net.provenance import Span
from podpath.report.brief import render_brief_answer, render_decisive
from podpath.report.escape import clip, escape
from podpath.report.moments import spell_moment, spell_zone
from podpath.report.quotes import quote
from podpath.report.style import Style, render_head
from podpath.timeline.chronicle import SURE, Chronicle
from podpath.timeline.durations import render_duration, tell_before
from podpath.timeline.marks import weigh_mark
from podpath.timeline.stories import Story
from podpath.timeline.suspects import Suspect
from podpath.timeline.window import FailureWindow

INDENT = "    "
SHOWN_SUSPECTS, SHOWN_ROWS = 6, 40
_TEXT = 140


def render_timeline(chronicle: Chronicle, style: Style) -> str:
    """Render the whole answer; every line of it is safe to print."""
    zone = chronicle.zone
    lines = _headline(chronicle, style)
    spans, ask = _decisive(chronicle), next(iter(chronicle.questions), "")
    if style.brief:
        return render_brief_answer(lines, spans, ask=ask)
    lines += render_decisive(spans, style, ask=ask)
    if chronicle.window is not None:
        lines += _window(chronicle.window, style, zone)
    shown = chronicle.stories if style.verbose else chronicle.stories[:2]
    for number, story in enumerate(shown):
        lines += _story(story, style, zone, first=number == 0)
    lines += _suspects(chronicle, style, zone)
    lines += _rows(chronicle, style, zone)
    lines += _remarks(chronicle, style)
    return "\n".join(lines) + "\n"


def _decisive(chronicle: Chronicle) -> tuple[Span, ...]:
    """Return the line of the event that broke it, or of the first suspect."""
    if chronicle.stories:
        return (chronicle.stories[0].strike.event.span,)
    return tuple(suspect.event.span for suspect in chronicle.suspects[:1])


def _quote(span: Span) -> str:
    """Spell a span as `file:line | text`; a long line is shortened, its place never."""
    place, bar, text = quote(span).partition(" | ")
    return escape(place) + bar + clip(escape(text), _TEXT)


def _headline(chronicle: Chronicle, style: Style) -> list[str]:
    match chronicle.verdict:
        case "found" if chronicle.stories and chronicle.stories[0].score >= SURE:
            return render_head(style, "bad", "LIKELY", f"{chronicle.stories[0].chain.title}.")
        case "found":
            first = chronicle.suspects[0]
            return render_head(
                style, "bad", "SUSPECT", f"{first.mark.words}, {tell_before(first.before)}."
            )
        case "none":
            return render_head(
                style, "good", "NOTHING CHANGED", "in the window, as far as these logs show."
            )
        case _:
            if chronicle.questions:
                what = chronicle.questions[0]
            else:
                what = "nothing in the window is known to break networks."
            return render_head(style, "warn", "UNDECIDED", what)


def _window(window: FailureWindow, style: Style, zone: tzinfo) -> list[str]:
    if window.timeout is not None:
        timeout = f" (timeout {render_duration(window.timeout)})"
    else:
        timeout = " (timeout not known)"
    rows = [
        (
            "last success",
            spell_moment(window.last_ok, zone) if window.last_ok is not None else "not known",
            window.ok_by,
        ),
        ("failing since", spell_moment(window.began, zone), None),
        ("first failure", spell_moment(window.failed_at, zone) + timeout, window.failed_by),
    ]
    lines = ["", f"  {style.paint('head', 'window')} ({spell_zone(window.began, zone)})"]
    for title, text, span in rows:
        lines.append(f"{INDENT}{title:<16} {text}")
        if span is not None:
            lines.append(f"{INDENT}{'':<16} {style.paint('dim', _quote(span))}")
    return lines


def _story(story: Story, style: Style, zone: tzinfo, *, first: bool) -> list[str]:
    title = "chain of causes" if first else f"also possible: {escape(story.chain.title)}"
    lines = ["", *style.wrap(title, "  ")]
    lines[1] = style.paint("head", lines[1])
    for number, (link, marked) in enumerate(story.told, 1):
        moment = spell_moment(marked.event.time, zone, date=False)
        lines += style.wrap(escape(link.says), f"{INDENT}{number}. {moment}  ")
        lines.append(f"{INDENT}   {style.paint('dim', _quote(marked.event.span))}")
    if story.before is not None:
        lines.append(f"{INDENT}   {tell_before(story.before)}")
    for lead in story.chain.leads if first else story.chain.leads[:1]:
        lines += style.wrap(
            f"{escape(lead.says)}? (podpath explain {escape(lead.check)})",
            f"{INDENT}{style.forth} ",
        )
        lines.append(f"{INDENT}   {style.paint('command', escape(lead.ask))}")
    if first:
        lines += style.wrap(escape(story.chain.prevention), f"{INDENT}prevention: ", INDENT)
        lines += [
            f"{INDENT}{style.paint('dim', f'reported: {escape(source)}')}"
            for source in story.chain.sources
        ]
    return lines


def _suspects(chronicle: Chronicle, style: Style, zone: tzinfo) -> list[str]:
    told = {one.marked for story in chronicle.stories[:1] for one in story.told}
    rest = [suspect for suspect in chronicle.suspects if (suspect.event, suspect.mark) not in told]
    if not rest:
        return []
    shown = rest if style.verbose else rest[:SHOWN_SUSPECTS]
    lines = ["", f"  {style.paint('head', 'other suspects' if told else 'suspects')}"]
    lines += [line for suspect in shown for line in _suspect(suspect, style, zone)]
    if len(shown) < len(rest):
        lines.append(f"{INDENT}(and {len(rest) - len(shown)} more: -v)")
    return lines


def _suspect(suspect: Suspect, style: Style, zone: tzinfo) -> list[str]:
    often = f", {suspect.times} lines" if suspect.times > 1 else ""
    moment = spell_moment(suspect.event.time, zone, date=False)
    text = (
        f"{escape(suspect.mark.words)}, {tell_before(suspect.before)}{often} ({suspect.score:.0%})"
    )
    return [
        *style.wrap(text, f"{INDENT}{moment}  "),
        f"{INDENT}   {style.paint('dim', _quote(suspect.event.span))}",
    ]


class _TimelineRow(NamedTuple):
    time: float
    order: int
    sign: str
    text: str


def _rows(chronicle: Chronicle, style: Style, zone: tzinfo) -> list[str]:
    """Return what happened in order, with the ends of the window as lines of their own."""
    rows = sorted(_events(chronicle, style), key=lambda row: (row.time, row.order))
    if not rows:
        return []
    window = chronicle.window
    limit = len(rows) if style.verbose else SHOWN_ROWS
    if len(rows) > limit and window is not None:
        rows = sorted(
            sorted(rows, key=lambda row: abs(row.time - window.began))[:limit],
            key=lambda row: (row.time, row.order),
        )
    lines = ["", f"  {style.paint('head', 'timeline')} ({spell_zone(rows[0].time, zone)})"]
    day = ""
    for row in rows[:limit] if window is not None else rows[-limit:]:
        date, _, clock = spell_moment(row.time, zone).partition(" ")
        if date != day:
            lines.append(f"{INDENT}{style.paint('dim', date)}")
            day = date
        lines.append(f"{INDENT}{clock:<12} {row.sign} {row.text}")
    return lines


def _events(chronicle: Chronicle, style: Style) -> Iterator[_TimelineRow]:
    window = chronicle.window
    told = {one.marked for story in chronicle.stories for one in story.told}
    for marked in chronicle.marked:
        inside = window is not None and window.holds(marked.event.time)
        weighty = weigh_mark(marked.mark) >= 0.3 or marked in told
        if not weighty and not style.verbose:
            continue
        sign = style.paint("warn", "!") if inside else "."
        if marked in told:
            sign = style.paint("bad", "*")
        often = f" (x{marked.event.repeats})" if marked.event.repeats > 1 else ""
        place = style.paint("dim", escape(str(marked.event.span)))
        yield _TimelineRow(
            marked.event.time, 1, sign, f"{escape(marked.mark.words)}{often}  {place}"
        )
    for event in chronicle.symptoms:
        text = clip(
            escape(f"{event.program}: {event.message}" if event.program else event.message), _TEXT
        )
        yield _TimelineRow(
            event.time, 3, style.broken, f"{text}  {style.paint('dim', escape(str(event.span)))}"
        )
    if window is not None:
        bar = "-" * 8
        if window.last_ok is not None:
            yield _TimelineRow(window.last_ok, 0, bar, style.paint("good", "last success"))
        if window.timeout is not None:
            yield _TimelineRow(
                window.began, 2, bar, style.paint("bad", "first failing request began")
            )
        yield _TimelineRow(window.failed_at, 2, bar, style.paint("bad", "first failure"))


def _remarks(chronicle: Chronicle, style: Style) -> list[str]:
    lines: list[str] = []
    if chronicle.questions:
        lines += ["", f"  {style.paint('head', 'ask next')}"]
        lines += [
            line
            for question in chronicle.questions
            for line in style.wrap(escape(question), INDENT)
        ]
    lines += [
        line
        for note in chronicle.notes
        for line in ("", *style.wrap(escape(note), "  note: ", INDENT))
    ]
    lines += [
        "",
        (
            f"  {chronicle.events} events in {chronicle.logs} "
            f"{'log' if chronicle.logs == 1 else 'logs'}{_unread(chronicle)}"
        ),
    ]
    if style.verbose:
        lines += [f"{INDENT}{_quote(gap.span)}: {escape(gap.why)}" for gap in chronicle.gaps]
    return lines


def _unread(chronicle: Chronicle) -> str:
    count = len(chronicle.gaps)
    parts = "part" if count == 1 else "parts"
    if count:
        return f", {count} {parts} not read (-v lists them)"
    return ""
