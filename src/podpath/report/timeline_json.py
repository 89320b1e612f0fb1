"""A chronicle as one JSON document of the published schema `podpath/timeline/v1`."""

from __future__ import annotations

import json

from podpath.net.provenance import Span
from podpath.report.borders import gap_object, quote_object
from podpath.report.escape import escape
from podpath.report.moments import spell_iso
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.event import LogEvent
from podpath.timeline.stories import Story
from podpath.timeline.suspects import Marked, Suspect
from podpath.timeline.window import FailureWindow

TIMELINE_SCHEMA = "podpath/timeline/v1"


def render_timeline_json(chronicle: Chronicle) -> str:
    """Render the whole answer, with a line end. Times are ISO 8601 in UTC."""
    document: dict[str, object] = {
        "schema": TIMELINE_SCHEMA,
        "verdict": chronicle.verdict,
        "window": _window(chronicle.window) if chronicle.window is not None else None,
        "chains": [story_object(story) for story in chronicle.stories],
        "suspects": [_suspect(suspect) for suspect in chronicle.suspects],
        "events": [_marked(marked) for marked in chronicle.marked],
        "failures": [_event(event) for event in chronicle.symptoms],
        "covered": chronicle.covered,
        "logs": chronicle.logs,
        "lines": chronicle.events,
        "questions": [escape(question) for question in chronicle.questions],
        "notes": [escape(note) for note in chronicle.notes],
        "gaps": [gap_object(gap) for gap in chronicle.gaps],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def story_object(story: Story) -> dict[str, object]:
    """Return a known chain that the logs show."""
    chain = story.chain
    return {
        "chain": chain.name,
        "title": escape(chain.title),
        "score": story.score,
        "before": story.before,
        "links": [
            {"says": escape(link.says), **_event(marked.event)} for link, marked in story.told
        ],
        "leads_to": [
            {"check": lead.check, "says": escape(lead.says), "ask": escape(lead.ask)}
            for lead in chain.leads
        ],
        "prevention": escape(chain.prevention),
        "sources": [escape(source) for source in chain.sources],
    }


def _window(window: FailureWindow) -> dict[str, object]:
    return {
        "last_ok": spell_iso(window.last_ok) if window.last_ok is not None else None,
        "began": spell_iso(window.began),
        "failed_at": spell_iso(window.failed_at),
        "timeout": window.timeout,
        "looked_from": spell_iso(window.start),
        "failed_by": _quote(window.failed_by),
        "ok_by": _quote(window.ok_by),
    }


def _quote(span: Span | None) -> object:
    return quote_object(span) if span is not None else None


def _suspect(suspect: Suspect) -> dict[str, object]:
    return {
        **_marked(Marked(suspect.event, suspect.mark)),
        "score": suspect.score,
        "before": round(suspect.before, 3),
        "lines": suspect.times,
    }


def _marked(marked: Marked) -> dict[str, object]:
    mark = marked.mark
    return {
        "kind": mark.kind,
        "subject": escape(mark.subject),
        "verb": escape(mark.verb),
        **_event(marked.event),
    }


def _event(event: LogEvent) -> dict[str, object]:
    return {
        "time": spell_iso(event.time),
        "program": escape(event.program),
        "message": escape(event.message),
        "repeats": event.repeats,
        "evidence": quote_object(event.span),
    }
