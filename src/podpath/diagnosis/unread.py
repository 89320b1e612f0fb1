"""What was not read, was cut, or is not modeled of the evidence, as reasons against the all-clear.

Apart from `clearance`, since answers about captures alone load no model of the datapath.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from podpath.net.provenance import Gap, GapKind, Span, list_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModelled:
    """The evidence shows something on the node that the model does not walk."""

    what: str
    ask: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesUnread:
    """Lines of outputs that state facts of the node could not be read."""

    gaps: tuple[Gap, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the lines."""
        return list_spans(self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCut:
    """A part of the input was left out, by a limit or by whoever captured it, or is damaged."""

    gaps: tuple[Gap, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return where it was cut."""
        return list_spans(self.gaps)


def forbid_by_gaps(gaps: Iterable[Gap]) -> Iterator[LinesUnread | InputCut | NotModelled]:
    """Yield what lines that were not read, were cut, or are not modeled forbid."""
    by_kind: dict[GapKind, list[Gap]] = {}
    for gap in gaps:
        cut = gap.cut is not None and gap.kind is GapKind.UNREAD
        cut |= gap.kind in (GapKind.DROPPED, GapKind.SELECTED)
        by_kind.setdefault(GapKind.CUT if cut else gap.kind, []).append(gap)
    if GapKind.UNREAD in by_kind:
        yield LinesUnread(gaps=tuple(by_kind[GapKind.UNREAD]))
    if GapKind.CUT in by_kind:
        yield InputCut(gaps=tuple(by_kind[GapKind.CUT]))
    for gap in by_kind.get(GapKind.NOT_MODELLED, ()):
        yield NotModelled(what=gap.why, ask="", spans=(gap.span,))
