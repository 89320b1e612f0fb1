"""What was found in an input, and where it came from: what every way of reading one gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from podpath.evidence.records import Reading
from podpath.net.provenance import Cut, Gap, GapKind, Source, Span

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.net.complaints import Complaint, Told
    from podpath.net.technologies import Emphasis, Technology


class Evidence(NamedTuple):
    """All that was found in the input."""

    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...]
    """Files, and parts of files, that could not be read."""
    complaints: tuple[Complaint, ...] = ()
    """What its prose says that fails or works."""
    mentions: frozenset[Technology] = frozenset()
    """What its text speaks of."""
    readings: tuple[tuple[Source, Reading], ...] = ()
    """Sources that need no reader, with what they say: captures, whose packets were known before
    their lines were written.
    """
    told: tuple[Told, ...] = ()
    """What its prose tells beside failures."""
    emphasis: tuple[Emphasis, ...] = ()
    """What each of its texts makes most of."""


def join(parts: Iterable[Evidence]) -> Evidence:
    """Put together what was found in several inputs, in their order."""
    found = tuple(parts)
    return Evidence(
        tuple(source for part in found for source in part.sources),
        tuple(gap for part in found for gap in part.gaps),
        tuple(complaint for part in found for complaint in part.complaints),
        frozenset(mention for part in found for mention in part.mentions),
        tuple(reading for part in found for reading in part.readings),
        tuple(told for part in found for told in part.told),
        tuple(one for part in found for one in part.emphasis),
    )


class BundlePlace(NamedTuple):
    """What a bundle's layout says of one of its files."""

    netns: str | None = None
    command: str | None = None
    taken_at: float | None = None
    host: str | None = None


NOWHERE = BundlePlace()
"""A file that no bundle places."""


def make_gap(name: str, why: str, lines: Sequence[str] = (), kind: GapKind = GapKind.UNREAD) -> Gap:
    """Make the gap of a file as a whole."""
    return Gap(Span(Source(name=name, lines=tuple(lines)), 1, max(len(lines), 1)), why, kind=kind)


def make_cut(cut: Cut) -> Gap:
    """Make the gap of an input of which a limit let only a part be read."""
    whole = "" if cut.whole is None else f" of {_megabytes(cut.whole)}"
    return make_gap(
        cut.source,
        f"only the first {_megabytes(cut.kept)}{whole} are read: {cut.option} lifts the limit",
    )._replace(cut=cut, kind=GapKind.CUT)


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.0f} MB" if size >= 1 << 20 else f"{size >> 10} KB"
