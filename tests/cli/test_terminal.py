"""What the terminal can show."""

from __future__ import annotations

import io

import pytest

from podpath.cli.terminal import count_columns, shows_progress


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Be one."""
        return True


@pytest.mark.parametrize(
    ("stream", "kind", "expected"),
    [(Screen(), "xterm", True), (Screen(), "dumb", False), (io.StringIO(), "xterm", False)],
)
def test_progress_needs_a_terminal_that_can_write_over_a_line(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, kind: str, *, expected: bool
) -> None:
    """Neither a file nor a dumb terminal can."""
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", kind)
    assert expected is shows_progress()


def test_columns_are_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the shell says."""
    monkeypatch.setenv("COLUMNS", "47")
    assert 47 == count_columns()
