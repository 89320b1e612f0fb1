"""A traced connection as a page: its verdict, the path, the line that ended it, and every step."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.forbids import Forbids
from podpath.net.provenance import Gap
from podpath.report.clearance_words import say_forbids
from podpath.report.drawings.path_drawing import choose_branch
from podpath.report.pages.diagnosis_page import draw, list_gaps
from podpath.report.pages.page import (
    PageHead,
    Section,
    list_items,
    quote_lines,
    render_page,
    show_text,
    spell,
)
from podpath.report.pages.steps import list_packets
from podpath.report.style import Style
from podpath.report.trace_text import list_decisive, render_trace, say_trace

COLORS = {Reachability.ALWAYS: "good", Reachability.NEVER: "bad", Reachability.SOMETIMES: "bad"}


def render_trace_page(
    conversation: Conversation,
    gaps: tuple[Gap, ...] = (),
    forbids: Sequence[Forbids] = (),
    owners: OwnerPlaces = NOBODY,
) -> str:
    """Render a conversation as one HTML file."""
    branch = choose_branch((conversation,))
    word, claim = say_trace(conversation, forbids)
    color = "warn" if forbids else COLORS.get(conversation.verdict, "warn")
    spans = list_decisive(branch)
    decisive = f"<h2>The deciding lines</h2>{quote_lines(spans)}" if spans else ""
    against = [spell(say_forbids(one), 600) for one in forbids]
    text = render_trace(conversation, Style(color=True, verbose=True), forbids, owners)
    sections = (
        Section("Why this is undecided", list_items(against)),
        *(list_packets(branch) if branch is not None else ()),
        list_gaps(gaps),
        Section("The whole answer as text", show_text(text)),
    )
    return render_page(PageHead(word, color, claim), (draw(branch), decisive), sections)
