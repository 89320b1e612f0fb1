"""Answers that were given, kept for a while: what is too long for an answer is read from here."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from podpath.net.errors import UsageError
from podpath.net.provenance import Source
from podpath.report.escape import escape
from podpath_mcp.bounds import HELD, KEPT, PART, WHOLE, shorten

AROUND = 12
"""Lines before and after a quoted one that its resource shows."""
_WIDTH = 400
QUOTES = 60
"""Quoted lines of one answer whose neighbors are kept."""
ANSWERS = "podpath://answers"
CHECKS = "podpath://checks"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What stands behind one answer."""

    forms: dict[str, str]
    """`json` and `text`: the whole answer in each of its forms."""
    quotes: list[str] = field(default_factory=list)
    """Quoted lines with their neighbors."""

    @property
    def size(self) -> int:
        """Characters that it takes."""
        return sum(map(len, self.forms.values())) + sum(map(len, self.quotes))


class AnswerShelf:
    """The last answers by their numbers. Each is added once and never changed."""

    def __init__(self) -> None:
        """Begin with none."""
        self._answers: OrderedDict[int, KeptAnswer] = OrderedDict()
        self._last = 0

    def next_number(self) -> int:
        """Return the number for the next answer."""
        self._last += 1
        return self._last

    def keep(self, number: int, answer: KeptAnswer) -> None:
        """Keep an answer, and let go of the oldest ones that are too many or too large together;
        an answer that is too large by itself is not kept.
        """
        self._answers[number] = answer
        while len(self._answers) > KEPT or sum(each.size for each in self._answers.values()) > HELD:
            self._answers.popitem(last=False)

    def read_form(self, number: int, form: str, part: int | None = None) -> str:
        """Return a whole answer, or a part of it, from 0; `UsageError` where there is none, or the
        whole is too long for one piece.
        """
        text = self._find(number).forms.get(form)
        if text is None:
            raise UsageError(f"expected json or text, saw {shorten(form, 40)!r}")
        parts = max(1, -(-len(text) // PART))
        uri = f"{ANSWERS}/{number}/{form}"
        if part is None:
            if len(text) > WHOLE:
                raise UsageError(
                    f"{uri} has {len(text):,} characters: read its parts, {uri}/0 to"
                    f" {uri}/{parts - 1}"
                )
            return text
        if not 0 <= part < parts:
            raise UsageError(f"expected a part of {uri} from 0 to {parts - 1}, saw {part}")
        return text[part * PART : (part + 1) * PART]

    def read_quote(self, number: int, quote: int) -> str:
        """Return a quoted line with its neighbors; `UsageError` where there is none."""
        quotes = self._find(number).quotes
        if not 0 <= quote < len(quotes):
            raise UsageError(f"answer {number} has {len(quotes)} quoted lines, saw {quote}")
        return quotes[quote]

    def _find(self, number: int) -> KeptAnswer:
        answer = self._answers.get(number)
        if answer is None:
            raise UsageError(
                f"answer {number} is not kept: the last {KEPT} are, up to {HELD // 1_000_000} MB;"
                " ask again, or run podpath with --json on the same evidence"
            )
        return answer


def list_neighbors(source: Source, line: int) -> str:
    """Return a line of a source, marked, with its neighbors, each with its number in the file."""
    at = line - source.first_line
    first = max(0, at - AROUND)
    shown = source.lines[first : at + AROUND + 1]
    rows: list[str] = []
    for place, text in enumerate(shown, first):
        mark = ">" if place == at else " "
        rows.append(f"{mark} {source.first_line + place:>6} | {shorten(text, _WIDTH)}")
    return "\n".join([escape(source.name), *rows]) + "\n"
