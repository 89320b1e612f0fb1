"""What captures alone show: losses between points, replies that were not translated, wrong MACs,
black holes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from podpath.checks.finding import Finding
from podpath.collect.capture_files import are_captures
from podpath.diagnosis.capture_answer import CaptureAnswer, ConnectionSummary, answer_captures
from podpath.diagnosis.capture_filter import ANY, Wanted, narrow, parse_wanted
from podpath.library.captured import match_captures, read_captures_alone
from podpath.library.case import NodeCase
from podpath.library.given import Given, list_paths, list_pieces
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.result import Result
from podpath.net.errors import MissingExtra, UsageError
from podpath.report.capture_text import render_capture
from podpath.report.style import PAGE_STYLE, Style
from podpath.report.tables import TablePlan

if TYPE_CHECKING:
    from podpath.capture.measures import ConnectionMeasures
    from podpath.capture.sightings import Ladder
    from podpath.diagnosis.capture_window import CaptureWindow


@dataclass(frozen=True, slots=True, repr=False)
class CapturesResult(Result):
    """The answer of `captures`."""

    answer: CaptureAnswer
    """All that is known, as data."""
    case: NodeCase
    """The packets, and the captures put together."""
    wanted: tuple[Wanted, ...] = ()
    """What the answer was narrowed to."""
    window: CaptureWindow | None = None
    """The stretch of time that it was narrowed to."""
    drawn: Ladder | None = None
    """The ladder that the text shows; None where it shows none."""
    measured: tuple[ConnectionMeasures, ...] = ()
    """What text and JSON show of each connection; empty where they were not measured."""

    @property
    def verdict(self) -> str:
        """Tell in one word how it ended."""
        return self.answer.verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that the packets show to be wrong, faults first."""
        return self.answer.findings

    @property
    def connections(self) -> tuple[ConnectionSummary, ...]:
        """Who talked with whom, and how it went; connections that fail first."""
        return self.answer.connections

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath capture`."""
        return self.answer.exit_code

    @property
    def table_plan(self) -> TablePlan:
        """Who talked with whom."""
        return TablePlan(
            "connections",
            {
                "connection": "connection",
                "state": "state",
                "meaning": "meaning",
                "fails": "fails",
                "packets": "packets",
                "line": "evidence",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath capture` prints it."""
        chosen = style or Style()
        drawings: list[str] = []
        if self.drawn is not None:
            from podpath.report.ladder import render_ladder  # noqa: PLC0415 - only where something is drawn

            drawings.append(render_ladder(self.drawn, chosen))
        if self.measured:
            from podpath.report.measures_text import render_measures  # noqa: PLC0415 - as above

            drawings.append(render_measures(self.measured, chosen))
        return render_capture(self.answer, chosen, drawings)

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/capture/v1`."""
        from podpath.report.capture_json import render_capture_json  # noqa: PLC0415 - only where it is asked for

        return render_capture_json(self.answer, self.measured)

    def csv(self) -> str:
        """Return what was measured of each connection as CSV, with the names of the columns."""
        from podpath.report.measures_text import render_csv  # noqa: PLC0415 - only where it is asked for

        return render_csv(self.measured)

    def parquet(self) -> bytes:
        """Return what was measured of each connection as a Parquet file; `MissingExtra` without the
        extra `podpath[fleet]`, which has Arrow.
        """
        from podpath.capture.measures import as_columns  # noqa: PLC0415 - only where it is asked for

        try:
            render = import_module("podpath_fleet.parquet_table").render_parquet
        except ImportError as error:
            raise MissingExtra("Parquet needs an extra: pip install 'podpath[fleet]'") from error
        return cast("bytes", render(as_columns(self.measured)))

    def with_measures(self) -> CapturesResult:
        """Return the answer with what each connection, or each that is asked about, comes to."""
        matched = self.case.matched or match_captures(self.case.facts, (), least=1)
        if matched is None:
            raise MissingExtra(
                "measuring connections needs packets, and an extra: pip install 'podpath[capture]'"
            )
        since, until = self.window or (None, None)
        fitting = list(matched.measure(since, until))
        for wanted in self.wanted:
            fitting = [one for one in fitting if wanted.fits_words(one.connection)]
        return replace(self, measured=tuple(fitting))

    def with_ladder(self) -> CapturesResult:
        """Return the answer with a ladder in its text, of the connection that `ladder` chooses."""
        return replace(self, drawn=self.ladder())

    def ladder(self) -> Ladder:
        """Lay out the connection that is asked about, else the one that a fault is about, else the
        first that fails.
        """
        matched = self.case.matched or match_captures(self.case.facts, (), least=1)
        if matched is None:
            raise MissingExtra(
                "a ladder needs packets, and an extra: pip install 'podpath[capture]'"
            )
        broken = [item.partition(": ")[0] for finding in self.findings for item in finding.breaks]
        names = (*broken, *(one.words for one in self.connections))
        fits = (
            (lambda words: all(one.fits_words(words) for one in self.wanted))
            if self.wanted
            else None
        )
        drawn = matched.draw(names, fits)
        if drawn is None:
            raise UsageError("no connection in the captures fits: there is nothing to draw")
        return drawn

    def _picture(self) -> str:
        """Return the ladder, where the answer has one."""
        return self.svg() if self.drawn is not None else ""

    def svg(self) -> str:
        """Return the ladder as a drawing."""
        from podpath.report.ladder_svg import render_ladder_svg  # noqa: PLC0415 - only where something is drawn

        return render_ladder_svg(self.drawn or self.ladder())

    def html(self) -> str:
        """Return the answer as one HTML file, with the ladder where it has one."""
        from podpath.report.ladder_svg import STYLE, render_ladder_svg  # noqa: PLC0415 - only where it is asked for
        from podpath.report.pages.text_page import QUOTED, render_text_page  # noqa: PLC0415 - only where it is asked for

        text = render_capture(self.answer, PAGE_STYLE)
        ladder = self.drawn or self._find_ladder()
        drawing = render_ladder_svg(ladder) if ladder is not None else ""
        deciding = self.findings[0].evidence[:QUOTED] if self.findings else ()
        return render_text_page(text, self.exit_code, drawing, STYLE, deciding)

    def _find_ladder(self) -> Ladder | None:
        """Return the ladder of what the first finding is about, where there is one to draw."""
        try:
            return self.ladder() if self.findings else None
        except (MissingExtra, UsageError):
            return None


def captures(
    evidence: Given,
    only: Sequence[str | Wanted] = (),
    *,
    since: str = "",
    until: str = "",
    progress: Progress = silent,
) -> CapturesResult:
    """Find what captures alone show, each finding with the packets that show it.

    The evidence is capture files, or anything with printed captures in it. `only` narrows the
    answer to connections: as much of one as is known, such as `tcp 10.0.0.1:1024 > 10.0.0.2:80`,
    `10.0.0.2` or `:443`, or a filter that `parse_expression` reads. `since` and `until` narrow it
    to a stretch of time: `2025-02-11 09:49:15`, `09:49:15`, or `+12.5` seconds after the first
    packet.
    """
    wanted = tuple(parse_wanted(one) if isinstance(one, str) else one for one in only)
    read = _read(evidence, wanted, progress)
    facts = read.facts
    points = read.matched.points if read.matched is not None else ()
    window: CaptureWindow | None = None
    if since or until:
        from podpath.diagnosis.capture_window import parse_window  # noqa: PLC0415 - slow to load

        window = parse_window(since, until, points, facts.sightings)
        facts = window.narrow(facts)
    facts = narrow(facts, wanted) if wanted else facts
    whole = not wanted and window is None
    with collecting_seldom(), stage(progress, "looking for faults"):
        states = read.matched.count_states() if read.matched is not None and whole else None
        if read.matched is not None and whole:
            facts = replace(facts, tallies=read.matched.tally_failures())
        answer = answer_captures(facts, points, states)
    return CapturesResult(
        answer, NodeCase(name=read.name, facts=facts, matched=read.matched), wanted, window
    )


def _read(evidence: Given, wanted: Sequence[Wanted], progress: Progress) -> NodeCase:
    """Read capture files by themselves without the readers of anything else, which take most of the
    time of a short call.
    """
    between = [(one.one, one.other) for one in wanted if (one.one, one.other) != (ANY, ANY)]
    pieces = list_pieces(evidence)
    paths = list_paths(pieces)
    if len(paths) == len(pieces) and are_captures(paths):
        return read_captures_alone(paths, between, progress)
    from podpath.library.reading import read_together  # noqa: PLC0415 - the readers of all outputs

    return read_together(evidence, between, progress)
