"""What changed in the window in which it broke, and which known chain of causes leads from there to
what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from podpath.collect.logs import read_texts
from podpath.evidence.files import split_lines
from podpath.library.clocks import chronicle_logs, make_clock
from podpath.library.given import Given, Pasted, ThisNode, list_paths, list_pieces, name_piece
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.result import Result
from podpath.library.when import When
from podpath.net.errors import EvidenceError, UsageError
from podpath.net.provenance import Source
from podpath.report.style import PAGE_STYLE, Style
from podpath.report.tables import TablePlan
from podpath.report.timeline_text import render_timeline
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.documents import find_logs
from podpath.timeline.stories import Story
from podpath.timeline.suspects import Suspect


@dataclass(frozen=True, slots=True, repr=False)
class TimelineResult(Result):
    """The answer of `timeline`."""

    chronicle: Chronicle
    """All that is known, as data."""

    @property
    def verdict(self) -> str:
        """Tell in one word how it ended."""
        return self.chronicle.verdict

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """What changed in the window, the likeliest cause first."""
        return self.chronicle.suspects

    @property
    def stories(self) -> tuple[Story, ...]:
        """Known chains of causes that the logs show."""
        return self.chronicle.stories

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath timeline`."""
        return self.chronicle.exit_code

    @property
    def table_plan(self) -> TablePlan:
        """What changed in the window."""
        return TablePlan(
            "suspects",
            {
                "time": "time",
                "subject": "subject",
                "verb": "verb",
                "before": "before",
                "score": "score",
                "line": "evidence",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath timeline` prints it."""
        return render_timeline(self.chronicle, style or Style())

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/timeline/v1`."""
        from podpath.report.timeline_json import render_timeline_json  # noqa: PLC0415 - only where it is asked for

        return render_timeline_json(self.chronicle)

    def svg(self) -> str:
        """Return the timeline as a drawing."""
        from podpath.report.timeline_svg import render_timeline_svg  # noqa: PLC0415 - only where something is drawn

        return render_timeline_svg(self.chronicle)

    def _picture(self) -> str:
        """Return the drawn timeline."""
        return self.svg()

    def html(self) -> str:
        """Return the answer as one HTML file with the timeline drawn."""
        from podpath.report.pages.text_page import QUOTED, render_text_page  # noqa: PLC0415 - only where it is asked for
        from podpath.report.timeline_svg import STYLE  # noqa: PLC0415 - only where it is asked for

        deciding = [one.event.span for one in self.suspects[:QUOTED]]
        text = self.text(PAGE_STYLE)
        return render_text_page(text, self.exit_code, self.svg(), STYLE, deciding)


def timeline(
    logs: Given, when: When | None = None, *, progress: Progress = silent
) -> TimelineResult:
    """Find what changed in the window in which it broke: after the last success, and before the
    first failing request began.
    """
    pieces = list_pieces(logs)
    if any(isinstance(piece, ThisNode) for piece in pieces):
        raise UsageError(
            "expected logs, saw a live node; `podpath snapshot` collects its logs into a bundle"
        )
    asked = when or When()
    clock = make_clock(asked)
    with collecting_seldom(), stage(progress, "reading logs"):
        read = read_texts(list_paths(pieces))
        texts = (*(_paste(piece) for piece in pieces if isinstance(piece, Pasted)), *read.sources)
        found = [log for text in texts for log in find_logs(text)]
        if not found:
            named = ", ".join(name_piece(piece) for piece in pieces)
            raise EvidenceError(
                f"{named}: expected logs such as /var/log/messages, journalctl, dmesg, kubectl get "
                "events; saw none"
            )
        chronicle = chronicle_logs(found, clock, asked)
    return TimelineResult(replace(chronicle, gaps=(*read.gaps, *chronicle.gaps)))


def _paste(piece: Pasted) -> Source:
    return Source(name=piece.name, lines=tuple(split_lines(piece.text)))
