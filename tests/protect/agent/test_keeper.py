"""Parts of protect as keepers: they report, begin anew where the world fails them, and stop at
once.
"""

from __future__ import annotations

import os
import threading
import time
from itertools import pairwise

import pytest

from podpath.net.errors import PodpathError
from podpath_protect.agent import keeper as module
from podpath_protect.agent.keeper import (
    SHORTEST_PAUSE,
    STARTING,
    KeeperContext,
    KeeperStatus,
    ThreadKeeper,
    keep_serving,
)
from tests.kube.following import until


def wait_for(keeper: ThreadKeeper, *, ready: bool) -> KeeperStatus:
    """Wait until a keeper reports, at most a minute."""
    end = time.monotonic() + 60
    while (
        keeper.status() is STARTING or keeper.status().ready is not ready
    ) and time.monotonic() < end:
        time.sleep(0.005)
    return keeper.status()


def test_a_body_reports_and_stops_at_once() -> None:
    """What a body reports is the keeper's status; stop wakes it from a long wait."""

    def body(context: KeeperContext) -> None:
        context.report(KeeperStatus(ready=True))
        context.wait(60)

    keeper = ThreadKeeper("part", body)
    keeper.start()

    assert wait_for(keeper, ready=True).ready
    assert keeper.alive()
    began = time.monotonic()
    keeper.stop()
    assert time.monotonic() - began < 30
    assert not keeper.alive()


def test_a_body_that_fails_begins_anew() -> None:
    """An error of the world makes the part not ready with its reason, and the body is tried
    again.
    """
    tries: list[int] = []

    def body(context: KeeperContext) -> None:
        tries.append(len(tries))
        if len(tries) < 3:
            raise PodpathError("the disk is full")
        context.report(KeeperStatus(ready=True))
        context.wait(60)

    keeper = ThreadKeeper("part", body, first_pause=0.05)
    keeper.start()
    failed = wait_for(keeper, ready=False)
    mended = wait_for(keeper, ready=True)
    keeper.stop()

    assert (failed.ready, failed.why) == (False, "the disk is full")
    assert mended.ready
    assert len(tries) == 3


def test_a_body_that_returns_begins_anew_without_spinning() -> None:
    """A body may ask to begin anew by returning; it is no busy loop."""
    begun: list[float] = []
    keeper = ThreadKeeper("part", lambda _: begun.append(time.monotonic()))
    keeper.start()
    until(lambda: len(begun) >= 4, "it begins anew")
    keeper.stop()

    assert all(after - before >= SHORTEST_PAUSE for before, after in pairwise(begun))


def test_a_wait_ends_with_a_descriptor() -> None:
    """A body waits for its own descriptors and learns which is readable."""
    reader, writer = os.pipe()
    heard: list[tuple[int, ...]] = []
    done = threading.Event()

    def body(context: KeeperContext) -> None:
        heard.append(context.wait(60, reader))
        done.set()
        context.wait(60)

    keeper = ThreadKeeper("part", body)
    keeper.start()
    os.write(writer, b"x")
    assert done.wait(60)
    keeper.stop()
    os.close(reader)
    os.close(writer)

    assert heard == [(reader,)]


def test_a_keeper_that_never_started_stops() -> None:
    """Stop before start does nothing."""
    keeper = ThreadKeeper("part", lambda context: context.report(STARTING))
    keeper.stop()

    assert keeper.status() is STARTING
    assert not keeper.alive()


def test_a_server_that_cannot_begin_says_each_reason_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes no node unready, is degraded for as long, and is tried until it serves."""
    monkeypatch.setattr(module, "REPORT_SECONDS", 0.001)
    reasons = iter(("busy", "busy", "no certificate", ""))
    heard: list[KeeperStatus] = []
    told: list[str] = []

    keep_serving(KeeperContext(heard.append), lambda: next(reasons), told.append, ())

    assert ["busy", "no certificate"] == told
    assert [(True, True, why) for why in ("busy", "busy", "no certificate")] == [
        (status.ready, status.degraded, status.why) for status in heard
    ]
