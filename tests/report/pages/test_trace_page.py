"""A traced connection as a page."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings

from podpath.datapath.tracing.trace import Conversation
from podpath.library.trace import trace
from podpath.report.pages.trace_page import render_trace_page
from tests.report import diagnoses
from tests.report.pages.documents import Document

TICKET = (
    Path(__file__).resolve().parents[3] / "examples" / "incidents" / "rp-filter-reset" / "ticket.md"
)


def test_page_says_what_the_text_says() -> None:
    """The verdict, the line that ended it, the steps."""
    answer = trace(TICKET, "tcp 10.88.5.203 > 10.88.5.61:9187")
    document = Document(answer.html())
    assert document.strange == []
    assert f"{answer.verdict}: tcp 10.88.5.203 > 10.88.5.61:9187 never works" in document.text
    assert "net.ipv4.conf.all.rp_filter = 1" in document.text
    assert "SYN-ACK, step by step: dropped in netns host (IP_RPFILTER)" in document.text


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(diagnoses.conversations)
def test_any_conversation_is_one_sound_page(conversation: Conversation) -> None:
    """Whatever the evidence holds: our elements alone, each closed."""
    assert Document(render_trace_page(conversation)).strange == []
