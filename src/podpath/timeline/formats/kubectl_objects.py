"""Events as `kubectl get events -o json` or `-o yaml` gives them: with their times in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from podpath.evidence.json_objects import JsonObject, scan_objects
from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats.block import close_account
from podpath.timeline.formats.kubectl_events import describe_event
from podpath.timeline.lines import LINE_WIDTH
from podpath.timeline.stamps import WallClock

_ITEMS: Final = re.compile(r'"items" ?: ?\[')
_JSON: Final = re.compile(r'"(?:involvedObject|regarding)" ?:')
_YAML: Final = re.compile(r"(?:- )?(?: {2})*(?:involvedObject|regarding):\s*$")
_YAML_FIELD: Final = re.compile(r"(?P<indent> *)(?:- )?(?P<key>[A-Za-z]\w*):(?: (?P<value>.*))?$")
_TIMES: Final = (
    "lastTimestamp",
    "eventTime",
    "deprecatedLastTimestamp",
    "firstTimestamp",
    "deprecatedFirstTimestamp",
)


def recognise(lines: Sequence[str]) -> float:
    """Recognize what every event names: the object that it is about."""
    if any(_JSON.search(line) or _YAML.match(line) for line in lines):
        return 0.9
    return 0.0


def read(source: Source, clock: Clock) -> LogReading:
    """Read the events of a list, or one event alone."""
    head = next((line for line in source.lines if line.strip()), "")
    wall = WallClock(clock.zone)
    events: list[LogEvent] = []
    gaps: list[Gap] = []
    for fields, first, last in _json(source) if head.lstrip()[:1] in {"{", "["} else _yaml(source):
        span = Span(source, source.first_line + first, source.first_line + last)
        event = _make(fields, span, wall)
        if event is None:
            gaps.append(Gap(span, "expected an event with its time, saw none"))
        else:
            events.append(event)
    return close_account(source, events, gaps)


def _json(source: Source) -> Iterator[tuple[Mapping[str, object], int, int]]:
    items = _ITEMS.search("\n".join(source.lines))
    for item in scan_objects(source, items.end() if items is not None else 0):
        if not isinstance(item, JsonObject):
            return
        yield item.value, item.first, item.last


def _yaml(source: Source) -> Iterator[tuple[Mapping[str, object], int, int]]:
    """Yield each item of a list in YAML with its plain fields; of what is nested only the object's
    kind and name.
    """
    starts = [index for index, line in enumerate(source.lines) if line.startswith("- ")]
    if not starts:
        yield _yaml_fields(source.lines, 0, 0), 0, max(len(source.lines) - 1, 0)
        return
    for start, end in zip(starts, [*starts[1:], len(source.lines)], strict=True):
        while end > start + 1 and not source.lines[end - 1].startswith("  "):
            end -= 1  # noqa: PLW2901 - the list's own fields stand behind its last item
        yield _yaml_fields(source.lines[start:end], 0, 2), start, end - 1


def _yaml_fields(lines: Sequence[str], start: int, depth: int) -> Mapping[str, object]:
    fields: dict[str, object] = {}
    about: dict[str, object] = {}
    inside = last = ""
    for line in lines[start:]:
        found = _YAML_FIELD.match(line[:LINE_WIDTH])
        if found is None:
            if last == "message" and line.startswith(" " * (depth + 2)):
                fields["message"] = f"{fields['message']} {line.strip()}"
            continue
        indent = len(found["indent"]) + (2 if line.startswith("- ") else 0)
        value = (found["value"] or "").strip().strip("'\"")
        if indent == depth:
            last = inside = found["key"]
            fields[found["key"]] = (
                int(value) if found["key"] == "count" and value.isdecimal() else value
            )
        elif inside in {"involvedObject", "regarding"} and indent == depth + 2:
            about[found["key"]] = value
    if about:
        fields["involvedObject"] = about
    return fields


def _make(fields: Mapping[str, object], span: Span, wall: WallClock) -> LogEvent | None:
    stamps = [wall.match(value) for key in _TIMES if isinstance(value := fields.get(key), str)]
    time = next((stamp.time for stamp in stamps if stamp is not None), None)
    if time is None:
        return None
    first = _text(fields, "firstTimestamp") or _text(fields, "deprecatedFirstTimestamp")
    since = wall.match(first) if first else None
    count = fields.get("count")
    source = fields.get("source")
    writer = (
        _text(fields, "reportingComponent")
        or (_text(source, "component") if isinstance(source, Mapping) else "")
        or "kubernetes"
    )
    about = fields.get("involvedObject") or fields.get("regarding")
    if isinstance(about, Mapping):
        subject = f"{_text(about, 'kind').lower()}/{_text(about, 'name')}"
    else:
        subject = None
    message = describe_event(
        _text(fields, "reason"), subject, _text(fields, "message") or _text(fields, "note")
    )
    times = count if isinstance(count, int) and count > 0 else 1
    return LogEvent(
        time,
        span,
        writer,
        message,
        "",
        times,
        since.time if since is not None and since.time < time else None,
    )


def _text(fields: Mapping[str, object], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
