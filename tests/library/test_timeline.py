"""Timelines by the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.given import Pasted, ThisNode
from podpath.library.timeline import timeline
from podpath.library.when import When
from podpath.net.errors import EvidenceError, UsageError
from tests.library.samples import LOG

WHEN = When(failed_at="03:13:59", timeout="10s", last_ok="03:13:39", now="2025-03-12T04:00:00Z")


def test_suspects_in_the_window(tmp_path: Path) -> None:
    """Pasted logs and files give the same suspects, and a drawing."""
    path = tmp_path / "messages"
    path.write_text(LOG.text, encoding="utf-8")
    pasted, read = timeline(LOG, WHEN), timeline(path, WHEN)

    assert ("found", 1) == (pasted.verdict, pasted.exit_code)
    assert [one.mark.words for one in pasted.suspects] == [one.mark.words for one in read.suspects]
    assert pasted.stories == pasted.chronicle.stories
    assert pasted.svg().startswith("<svg")


def test_what_is_no_log_is_refused() -> None:
    """Neither prose nor a live node is a log, and a moment has to be read."""
    with pytest.raises(EvidenceError, match="note: expected logs"):
        timeline(Pasted("hello", "note"))
    with pytest.raises(UsageError, match="live node"):
        timeline(ThisNode())
    with pytest.raises(UsageError, match="expected a moment"):
        timeline(LOG, When(failed_at="soon"))
