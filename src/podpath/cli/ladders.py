"""The drawing of `podpath capture`: which connection is drawn, in the terminal and as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from podpath.capture.sightings import Ladder
from podpath.collect.matched import MatchedCaptures
from podpath.diagnosis.capture_answer import CaptureAnswer
from podpath.diagnosis.capture_filter import Wanted
from podpath.net.errors import MissingExtra, UsageError
from podpath.report.ladder_svg import render_ladder_svg


def draw_ladder(matched: MatchedCaptures | None, answer: CaptureAnswer, wanted: Sequence[Wanted]) -> Ladder:
    """Lay out the connection that is asked about, else the one that a fault is about, else the first that fails."""
    if matched is None:
        raise MissingExtra("a ladder needs packets, and NumPy: pip install 'podpath[capture]'")
    broken = [item.partition(": ")[0] for finding in answer.findings for item in finding.breaks]
    names = (*broken, *(one.words for one in answer.connections))
    fits = (lambda words: all(one.fits_words(words) for one in wanted)) if wanted else None
    drawn = matched.draw(names, fits)
    if drawn is None:
        raise UsageError("no connection in the captures fits: there is nothing to draw")
    return drawn


def write_ladder(path: str, drawn: Ladder) -> None:
    """Write the drawing as SVG; `UsageError` where the file cannot be written."""
    try:
        Path(path).write_text(render_ladder_svg(drawn), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {str(error.strerror).lower()}") from error
