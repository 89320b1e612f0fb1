"""Progress on a terminal: shown where something takes long, with counts and the time left where
they are known, and taken back.
"""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from podpath.cli import progress_line
from podpath.cli.progress_line import ProgressLine
from podpath.library.progress import stage
from podpath.net.counted import Counted

ERASED = "\r\x1b[K"


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True

    @property
    def lines(self) -> list[str]:
        """What stood on the line, one after the other."""
        return [line.removesuffix("\x1b[K") for line in self.getvalue().split("\r") if line]


class Clock:
    """A clock that goes as the test says."""

    now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def sit_at_terminal(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Make standard error a terminal of 80 columns."""
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return screen


def test_what_takes_long_is_shown_by_the_clock_and_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work that tells no share is shown once patience ends, and the signal is given back."""
    screen = sit_at_terminal(monkeypatch)
    before = signal.getsignal(signal.SIGALRM)
    monkeypatch.setattr(progress_line, "PATIENCE", 0.001)
    with stage(ProgressLine(), "reading"):
        deadline = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.001)

    assert ["reading ...", ""] == screen.lines
    assert screen.getvalue().endswith(ERASED)
    assert before is signal.getsignal(signal.SIGALRM)
    assert (0.0, 0.0) == signal.getitimer(signal.ITIMER_REAL)


def test_counts_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share is a percentage, a count both numbers; after a second the rest is estimated."""
    screen, clock = sit_at_terminal(monkeypatch), Clock()
    with stage(ProgressLine(clock), "walking") as tell:
        for moment, share in (
            (100.2, 0.1),  # before patience ends
            (100.8, 0.2),
            (110.0, Counted(10, 40)),
            (110.05, Counted(11, 40)),  # drawn a moment ago
            (9100.0, Counted(20, 40)),
            (9200.0, Counted(40, 40)),
            (9210.0, Counted(1, 4)),  # another pass, whose time is its own
            (9213.0, Counted(3, 4)),
        ):
            clock.now = moment
            tell(share)
    assert screen.lines == [
        "walking ... 20%",
        "walking ... 10 of 40, 25%, 30 s left",
        "walking ... 20 of 40, 50%, 2 h 30 min left",
        "walking ... 2 h 32 min",
        "walking ... 1 of 4, 25%",
        "walking ... 3 of 4, 75%, 1 s left",
        "",
    ]


def test_nothing_is_shown_of_what_is_fast_or_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is fast says nothing on a terminal; into a file, or on a terminal that cannot write over
    a line, nothing is said at all.
    """
    screen, clock = sit_at_terminal(monkeypatch), Clock()
    with stage(ProgressLine(clock), "reading") as tell:
        tell(0.5)
    monkeypatch.setenv("TERM", "dumb")
    with stage(ProgressLine(clock), "reading") as tell:
        clock.now += 60
        tell(0.5)
    assert "" == screen.getvalue()
    monkeypatch.undo()
    with stage(ProgressLine(clock), "reading") as tell:
        clock.now += 60
        tell(0.5)
    assert ("", "") == capsys.readouterr()


@pytest.mark.parametrize(
    "name",
    ["\x1b]0;x\a", "\u202enode", "節" * 100, "n" * 2_000_000],
    ids=["escape", "rtl", "wide", "long"],
)
def test_a_name_from_evidence_stays_on_the_line(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither escapes nor length leave the line, nor what a terminal draws two columns wide."""
    screen, clock = sit_at_terminal(monkeypatch), Clock()
    with stage(ProgressLine(clock), f"walking {name}") as tell:
        clock.now += 2
        tell(0.5)
    shown, erased = screen.lines
    assert (True, True, "") == (shown.isascii(), shown.isprintable(), erased)
    assert 10 < len(shown) < 80


READER = """
import sys, time
from podpath.cli import progress_line
from podpath.library.progress import stage
import click
progress_line.PATIENCE = 0.01

@click.command()
@__import__("podpath.cli.options", fromlist=["x"]).progress_option
def slow():
    with stage(progress_line.ProgressLine(), "waiting"):
        time.sleep(0.5)
slow(sys.argv[1:], standalone_mode=False)
"""


@pytest.mark.parametrize(("arguments", "shown"), [((), True), (("--no-progress",), False)])
def test_a_call_may_do_without(arguments: tuple[str, ...], *, shown: bool) -> None:
    """On a real terminal the line comes while the program sleeps, unless `--no-progress` is
    given.
    """
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", READER, *arguments],
        stderr=theirs,
        check=True,
        env=os.environ | {"TERM": "xterm"},
    )
    os.write(theirs, b"end")
    seen = ""
    while not seen.endswith("end"):
        seen += os.read(ours, 4096).decode()
    os.close(theirs)
    os.close(ours)
    assert ("\rwaiting ...\x1b[K" + ERASED if shown else "") + "end" == seen
