"""What turned a failure into a success, or the reverse: the same command typed twice in one
document, with commands between the two that change a host.

A try is known by its whole command: nothing but what stands between its two runs is different. It
need not be known where it started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.attempts.outcome import UNADDRESSED
from podpath.evidence.records import AttemptRecord, ChangeCommandRecord
from podpath.net.failures import Ending, is_failure
from podpath.net.provenance import Span
from podpath.node.turns import Turn


class _TypedTry(NamedTuple):
    command: str
    works: bool
    span: Span


def list_turns(evidence: ReadSources) -> tuple[Turn, ...]:
    """Return each turn, in the order of the evidence."""
    found: list[Turn] = []
    before: dict[tuple[str, str], _TypedTry] = {}
    changes: list[tuple[str, Span]] = []
    for scene in evidence.scenes:
        changes += _list_changes(scene)
        tried = _read_try(scene)
        if tried is None:
            continue
        key = (tried.span.source.name, tried.command)
        first = before.get(key)
        if first is not None and first.works is not tried.works:
            between = tuple(one for one in changes if _is_between(first.span, one[1], tried.span))
            failed, worked = (first, tried) if tried.works else (tried, first)
            if between:
                found.append(Turn(failed=failed.span, worked=worked.span, changes=between))
        before[key] = tried
    return tuple(found)


def _list_changes(scene: ReadSource) -> Iterator[tuple[str, Span]]:
    for record in scene.reading.records:
        if isinstance(record, ChangeCommandRecord):
            yield record.command, record.span


def _read_try(scene: ReadSource) -> _TypedTry | None:
    """Return what one typed command tried, and whether all of it works; None where it tried
    nothing, or some of it works and some does not.
    """
    command = " ".join((scene.source.command or "").split()).removeprefix("sudo ")
    if not command:
        return None
    tried = [one for one in scene.reading.records if isinstance(one, AttemptRecord)]
    spans = [one.span for one in scene.reading.gaps if one.why == UNADDRESSED]
    spans += [one.span for one in tried if is_failure(one.result)]
    works = [one.span for one in tried if one.result is Ending.OK]
    if bool(spans) is bool(works):
        return None
    return _TypedTry(command, bool(works), (spans or works)[0])


def _is_between(first: Span, change: Span, last: Span) -> bool:
    return change.source.name == last.source.name and first.line < change.line < last.line
