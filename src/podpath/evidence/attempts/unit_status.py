"""`systemctl status`: whether a unit runs, and the last lines that it logged.

The lines of the log below the block are read like any log's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from podpath.evidence.attempts.component_log import read_failure
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source
from podpath.net.statements import UnitState

_HEADING = re.compile(
    r"\s*(?:[\u25cf\u25cb\u00d7*\u21bb\u25cc\u2717]\s*)?"
    r"(?P<unit>[\w@.:\\-]+\.(?:service|socket|target|timer|mount|slice|scope|path))"
    r"(?:\s+[-\u2013]\s+(?P<title>\S.*))?\s*$"
)
_LOADED = re.compile(
    r"\s*Loaded: (?P<loaded>[a-z-]+)(?: \((?P<where>[^;)]*)(?:; (?P<enabled>[a-z-]+))?[^)]*\))?.*"
)
_ACTIVE = re.compile(r"\s*Active: (?P<active>[a-z-]+)(?: \((?P<detail>[^)]*)\))?.*")
_FIELD = re.compile(
    r"\s*(?:Loaded|Active|Drop-In|Docs|Process|Main PID|Control PID|Status|Error|Tasks|Memory|CPU|"
    r"CGroup|Triggers|TriggeredBy|Triggered By|Trigger|Listen|Accepted|IP|IO|FD Store|Follow|Until|"
    r"Condition|Where|What|Device|Invocation|Names|Assert|Since|Start|Transient)\b[ \w]*:(?: .*)?"
)
_TREE = re.compile(
    r"\s*(?:[\u2514\u251c\u2502|`\u2023]|https?://|man:|file:|\d+ (?:\S*/)?[\w.-]+)|\s{9,}\S"
)
_CONDITION = re.compile(
    r"\s*(?:Condition: start condition failed|Condition: start condition unmet)"
)
_ENDED_WELL = re.compile(r"\s*(?:Process|Main PID): \d+.*\(code=exited, status=0/SUCCESS\)")
_ASIDE = re.compile(r"\s*(?:(?:Warning|Notice|Hint): |lines \d+-\d+|Unit \S+ could not be found)")
_NOT_FOUND = re.compile(r"\s*Unit (?P<unit>\S+) could not be found")


def recognise_status(source: Source) -> int:
    """Recognize what stands behind `Active:`, below the name of a unit or its `Loaded:`."""
    lines = sample(source)
    active = any(_ACTIVE.fullmatch(line) is not None for line in lines)
    named = any(_LOADED.fullmatch(line) or _HEADING.fullmatch(line) for line in lines)
    if lines and _NOT_FOUND.match(lines[0]):
        return CERTAIN
    if not active or not named:
        return NO
    first = lines[0]
    begins = any(one.fullmatch(first) for one in (_HEADING, _LOADED, _ACTIVE))
    return CERTAIN if begins or _ASIDE.match(first) else LIKELY - 1


def read_status(source: Source) -> Reading:
    """Read each unit with its state; the lines of its log are kept as they are."""
    reader = _StatusReader(source)
    for index, line in enumerate(reader.ledger.lines):
        if line.strip():
            reader.feed(index, strip_terminal(line))
    reader.flush()
    return reader.ledger.close("a unit, its state or a line of its log")


@dataclass(slots=True)
class _Block:
    """What a unit's lines say so far."""

    unit: str
    title: str
    loaded: str = ""
    enabled: str = ""
    active: str = ""
    detail: str = ""
    once: bool = False
    place: int | None = None
    """The line that says whether it runs."""


class _StatusReader:
    """Gathers the lines of one unit. Mutable, local to one call."""

    __slots__ = ("_block", "ledger")

    def __init__(self, source: Source) -> None:
        self.ledger = LineLedger(source)
        self._block: _Block | None = None

    def feed(self, index: int, line: str) -> None:
        heading, gone = _HEADING.fullmatch(line), _NOT_FOUND.match(line)
        if gone is not None:
            self.flush()
            unit = UnitState(gone["unit"], "", "inactive", "dead", "not-found")
            self.ledger.add(StatementRecord(span=self.ledger.span(index), statement=unit))
        elif heading is not None:
            self.flush()
            self._block = _Block(heading["unit"], heading["title"] or "")
            self.ledger.head(index)
        else:
            self._feed_field(index, line)

    def _feed_field(self, index: int, line: str) -> None:
        if self._block is None and _LOADED.fullmatch(line):
            self._block = _Block(_name_by_command(self.ledger.source), "")
        if self._block is not None and self._take(self._block, index, line):
            if self._block.place != index:
                self.ledger.head(index)
        elif _ASIDE.match(line):
            self.ledger.head(index)
        elif not self.ledger.elide(index) and not read_failure(self.ledger, index, line):
            self.ledger.gap(index, "expected a line of a known message, saw something else")

    @staticmethod
    def _take(block: _Block, index: int, line: str) -> bool:
        """Take a line of the block above the log; tell whether it is one."""
        loaded, active = _LOADED.fullmatch(line), _ACTIVE.fullmatch(line)
        if loaded is not None:
            block.loaded, block.enabled = loaded["loaded"], loaded["enabled"] or ""
        elif active is not None:
            block.active, block.detail = active["active"], active["detail"] or ""
            block.place = index
        elif _CONDITION.match(line) or _ENDED_WELL.match(line):
            block.once = True
        return _FIELD.fullmatch(line) is not None or _TREE.match(line) is not None

    def flush(self) -> None:
        """Keep the unit that is complete now."""
        block, self._block = self._block, None
        if block is None or block.place is None or not block.unit:
            return
        state = UnitState(
            block.unit,
            block.title,
            block.active,
            block.detail,
            block.loaded,
            block.enabled,
            block.once,
        )
        self.ledger.add(StatementRecord(span=self.ledger.span(block.place), statement=state))


def _name_by_command(source: Source) -> str:
    """Return the unit that a command asked for; empty where none is shown."""
    words = (source.command or "").split()
    names = [word for word in words[2:] if not word.startswith("-")]
    if words[:1] not in (["systemctl"], ["service"]) or not names:
        return ""
    return names[0] if "." in names[0] else f"{names[0]}.service"


FORMAT = Format("systemctl status", recognise_status, read_status, decides=False)
