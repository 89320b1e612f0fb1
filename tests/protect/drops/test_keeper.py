"""Tests of `protect.drops.keeper`: a process as long as somebody needs it, and failures that make
no node unready.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.drops import keeper
from podpath_protect.drops.feed import DropBoard, DropFeed, DropWish
from podpath_protect.drops.keeper import make_body
from podpath_protect.drops.options import DropOptions
from podpath_protect.drops.process import WatchingProcess
from tests.kube.following import until
from tests.protect.drops.lines import encode, make_drop, make_flow, make_turn

LINES = b"\n".join((encode(make_drop()), encode(make_turn(make_flow(5))), b"")).decode()


class Kept:
    """A part that runs in a thread, and what it reported."""

    def __init__(self, options: DropOptions, line: str) -> None:
        """Begin; `line` is what a shell does in the process's place."""
        self.reports: list[KeeperStatus] = []
        self.started = 0
        self.board = DropBoard()
        self._line = line
        self._context = KeeperContext(self.reports.append)
        body = make_body(options, self.board, self._start)
        self._thread = threading.Thread(target=lambda: body(self._context))
        self._thread.start()

    def _start(self) -> WatchingProcess:
        self.started += 1
        return WatchingProcess(("sh", "-c", self._line, LINES), 256)

    def feed(self) -> DropFeed:
        """Return the feed, once there is one."""
        until(lambda: self.board.feed is not None, "a feed")
        assert self.board.feed is not None
        return self.board.feed

    def sample(self, name: str) -> float:
        """Return the sum of a family as it was reported last."""
        return sum(each.value for each in self.reports[-1].samples if each.name == name)

    def stop(self) -> None:
        """End it."""
        self._context.stop()
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._context.close()


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Callable[[DropOptions, str], Kept]:
    """Provide parts that report often and linger shortly."""
    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(keeper, "REPORT_SECONDS", 0.1)
    monkeypatch.setattr(keeper, "LINGER_SECONDS", 0.3)
    monkeypatch.setattr(keeper, "FIRST_PAUSE", 0.1)
    return Kept


def test_drops_are_counted_all_the_time(keep: Callable[[DropOptions, str], Kept]) -> None:
    """With metrics the process runs for nobody, and its counts are samples."""
    kept = keep(DropOptions(), 'printf "%s" "$0"; cat')
    try:
        until(lambda: bool(kept.reports) and kept.sample("drops") == 5, "counts")
        assert (kept.reports[-1].ready, kept.reports[-1].degraded) == (True, False)
        assert kept.sample("drops_listening") == 1
    finally:
        kept.stop()
    assert kept.board.feed is None


def test_without_metrics_it_runs_for_watchers_alone(
    keep: Callable[[DropOptions, str], Kept],
) -> None:
    """It begins with the first, and ends some time after the last."""
    kept = keep(DropOptions(metrics=False, watchers=1), 'printf "%s" "$0"; cat')
    try:
        until(lambda: bool(kept.reports), "a report")
        assert kept.started == 0
        with kept.feed().subscribe(DropWish()) as told:
            (first,) = told.take(10) or ()
            assert first["reason"] == "NETFILTER_DROP"
        until(lambda: kept.sample("drops_listening") == 0, "it is ended")
        assert kept.started == 1
    finally:
        kept.stop()


def test_a_failure_is_told_and_tried_again(keep: Callable[[DropOptions, str], Kept]) -> None:
    """The node stays ready, who watches is told why it ends, and another process is started."""
    kept = keep(DropOptions(watchers=1), "echo no BPF here >&2; sleep 0.2; exit 2")
    try:
        with kept.feed().subscribe(DropWish()) as told:
            until(lambda: told.take(1) is None, "the end")
        until(lambda: kept.started > 1, "another start")
        until(lambda: "no BPF here" in kept.reports[-1].why, "the reason")
        assert (kept.reports[-1].ready, kept.reports[-1].degraded) == (True, True)
    finally:
        kept.stop()
