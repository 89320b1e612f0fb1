"""Events of Kubernetes: the table at the end of `kubectl describe`, and `kubectl get events`.

A failed probe of the kubelet is an attempt, too: the kubelet connects from the node's own network
namespace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.attempts.failures import parse_failure
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import EventRecord
from podpath.evidence.kubernetes.table import is_heading, parse_heading, parse_row
from podpath.evidence.records import AttemptRecord, Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import Column
from podpath.net.provenance import Source, Span

_DESCRIBED = re.compile(
    r"\s*(?P<type>Warning|Normal)\s+(?P<reason>[A-Z]\w+)\s+(?P<age><?[\w.]+>?(?:\s\([^)]* over "
    r"[^)]*\))?)\s+(?P<origin>[\w./-]+(?:, [\w.-]+)?)\s+(?P<message>\S.*)"
)
_LISTED = re.compile(
    r"\s*(?:(?P<namespace>[a-z0-9-]+)\s+)?(?P<age><?[\w.]+>?(?:\s\([^)]* over [^)]*\))?)\s+"
    r"(?P<type>Warning|Normal)\s+(?P<reason>[A-Z]\w+)\s+(?P<object>[a-z]+/\S+)\s+(?P<message>\S.*)"
)
_OLD = re.compile(
    r"\s*\S+\s+(?P<age>\S+)\s+(?P<count>\d+)\s+(?P<origin>\{[^}]*\}|\S+)\s+.*?(?P<type>Warning|"
    r"Normal)\s+(?P<reason>[A-Z]\w+)\s+(?P<message>\S.*)"
)
_FURNITURE = re.compile(
    r"\s*(?:Events:(?:\s*<none>)?\s*$|Type\s+Reason\s+Age|-{4}\s+-{6}|FirstSeen\s+LastSeen|"
    r"-{9}\s+-{8})"
)
_WRAPPED = re.compile(r"\s{20,}\S")
"""The rest of a message that stands under its column."""
_BROAD, _CUT = 60, re.compile(r"\s*(?:[\[\w./-]+[@:\]]\S* ?[#$] |[#$] )")
"""Columns of a line that a terminal or a mail broke, and how a line begins that is no rest."""
_COUNT = re.compile(r"x(?P<count>\d+) over")
_PROBE = re.compile(r"(?P<kind>Readiness|Liveness|Startup) probe (?:failed|errored)", re.IGNORECASE)


def recognise_events(source: Source) -> int:
    """Recognize events by their type and reason."""
    lines = sample(source)
    rows = sum(map(_is_row, lines))
    if not rows:
        return LIKELY if any(_FURNITURE.match(line) and "Type" in line for line in lines) else NO
    furniture = sum(_FURNITURE.match(line) is not None or is_heading(line) for line in lines)
    titled = any(_FURNITURE.match(line) and "Reason" in line for line in lines[:3])
    wrapped = _is_row(lines[0]) and all(_is_row(line) or _WRAPPED.match(line) for line in lines)
    return CERTAIN if titled or wrapped or len(lines) - rows - furniture <= rows else NO


def _is_row(line: str) -> bool:
    return any(shape.match(line) for shape in (_DESCRIBED, _LISTED, _OLD))


def read_events(source: Source) -> Reading:
    """Read every event, and every failed probe as an attempt."""
    ledger = LineLedger(source)
    columns: tuple[Column, ...] = ()
    for index, line in enumerate(ledger.lines):
        if not line.strip() or ledger.elide(index):
            continue
        if is_heading(line):
            columns = parse_heading(line)
            ledger.head(index)
        elif _FURNITURE.match(line):
            ledger.head(index)
        else:
            read_event(ledger, index, columns)
    return ledger.close("an event")


def read_event(
    ledger: LineLedger, index: int, columns: tuple[Column, ...] = (), subject: str | None = None
) -> bool:
    """Read one event's line, with what goes on below it; tell whether it is one. `subject` is whose
    events these are.
    """
    line = ledger.lines[index]
    found = _DESCRIBED.match(line) or _LISTED.match(line) or _OLD.match(line)
    fields: Mapping[str, str | None] = (
        found.groupdict() if found is not None else _by_columns(columns, line)
    )
    message = fields.get("message")
    if not message or not fields.get("type"):
        return False
    age = fields.get("age")
    last = _wrapped(ledger, index)
    text = " ".join(
        [message.strip(), *(ledger.lines[i].strip() for i in range(index + 1, last + 1))]
    )
    count = fields.get("count") or next((hit["count"] for hit in _COUNT.finditer(age or "")), None)
    span = ledger.span(index, last)
    ledger.add(
        EventRecord(
            span=span,
            type=fields["type"] or "",
            reason=fields.get("reason") or "",
            age=age,
            origin=fields.get("origin"),
            object=fields.get("object") or subject,
            message=text,
            count=int(count) if count is not None else None,
        )
    )
    _add_attempt(ledger, span, text)
    return True


def _by_columns(columns: tuple[Column, ...], line: str) -> Mapping[str, str | None]:
    cells = parse_row(columns, line) if columns else None
    if cells is None or cells.get("TYPE") not in {"Warning", "Normal"}:
        return {}
    names = {
        "LAST SEEN": "age",
        "AGE": "age",
        "TYPE": "type",
        "REASON": "reason",
        "OBJECT": "object",
        "MESSAGE": "message",
        "COUNT": "count",
    }
    return {names[title]: cell for title, cell in cells.items() if title in names}


def _wrapped(ledger: LineLedger, index: int) -> int:
    """Return the last line that goes on with an event's message: deeper than the event, and no
    event itself.
    """
    lines = ledger.lines
    indent = len(lines[index]) - len(lines[index].lstrip())
    last = index
    while last + 1 < len(lines):
        line = lines[last + 1]
        deeper = len(line) - len(line.lstrip()) > indent + 4
        broken = len(lines[last]) >= _BROAD and _CUT.match(line) is None
        if (
            not line.strip()
            or not (deeper or broken)
            or any(shape.match(line) for shape in (_DESCRIBED, _LISTED, _OLD, _FURNITURE))
        ):
            break
        last += 1
    return last


def _add_attempt(ledger: LineLedger, span: Span, message: str) -> None:
    """Keep a failed probe as an attempt from the host: the kubelet runs there."""
    probe = _PROBE.search(message)
    failure = parse_failure(message)
    if probe is None or failure is None:
        return
    ledger.add(
        AttemptRecord(
            span=span,
            protocol=failure.protocol,
            dst=failure.dst,
            dport=failure.dport,
            result=failure.result,
            src=failure.src,
            who=f"kubelet {probe['kind'].lower()} probe",
            origin="host",
            detail=message,
        )
    )


FORMAT = Format("Kubernetes events", recognise_events, read_events, decides=False)
