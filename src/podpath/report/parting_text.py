"""Where prediction and captures part, as terminal text: what the walk says, what was seen, the
lines of both.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.diagnosis.meeting import PacketComparison
from podpath.report.escape import escape
from podpath.report.quotes import render_quotes
from podpath.report.style import Style

INDENT = "    "


def render_partings(partings: Sequence[PacketComparison], style: Style) -> list[str]:
    """Write out each parting; nothing where there is none."""
    lines: list[str] = []
    for meeting in partings:
        lines += style.wrap(
            f"{escape(meeting.probe)}: they differ at its {escape(meeting.packet)}",
            f"  {style.doubtful} ",
            INDENT,
        )
        for word, says, spans in (
            ("predicted: it", meeting.predicted, meeting.predicted_by),
            ("captured:", meeting.seen, meeting.seen_by),
        ):
            lines += style.wrap(f"{word} {escape(says)}", INDENT)
            lines += render_quotes(spans, (), style, INDENT + "  ")
    if lines:
        return ["", style.paint("head", "Prediction and captures"), *lines]
    return []
