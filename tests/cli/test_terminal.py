"""Progress on a terminal: shown where something takes long, with its share where that is known, and
taken back.
"""

from __future__ import annotations

import io
import time

import pytest

from podpath.cli import terminal
from podpath.cli.terminal import ProgressLine
from podpath.library.progress import stage


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True


def test_share_is_shown_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once patience ends the line stands there, then the share of the work; at the end it is wiped
    away.
    """
    screen = Screen()
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", screen)
    with stage(ProgressLine(), "reading") as tell:
        deadline = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.001)
        tell(0.42)

    assert screen.getvalue() == "\rreading ...\rreading ...  42%\r\x1b[K"


def test_nothing_is_shown_before_patience_ends_or_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is fast says nothing on a terminal; into a file nothing is said at all."""
    screen = Screen()
    with stage(ProgressLine(), "reading") as tell:
        tell(0.5)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr", screen)
    with stage(ProgressLine(), "reading") as tell:
        tell(0.5)
    assert screen.getvalue() == ""
