"""Drops as a part of the agent: a watching process as long as somebody needs it, and counters.

Where drops cannot be heard, that is told and tried again, more and more slowly; it makes no node
unready.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from podpath_protect.agent.keeper import Body, KeeperContext, KeeperStatus, Sample
from podpath_protect.drops.feed import DropBoard, DropFeed
from podpath_protect.drops.options import DropOptions
from podpath_protect.drops.process import WatchingError, WatchingProcess, command

_log = logging.getLogger("podpath.protect.drops")

LOOK_SECONDS = 0.5
"""How soon somebody who wants to watch is seen."""
LINGER_SECONDS = 10.0
"""How long the process goes on for nobody: who asks again need not wait for the node to be read."""
REPORT_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
Start = Callable[[], WatchingProcess]


def make_body(options: DropOptions, board: DropBoard, start: Start | None = None) -> Body:
    """Make what the agent runs as its part `drops`."""
    begin = start or (lambda: WatchingProcess(command(options), options.memory))
    return lambda context: _keep(context, options, board, begin)


def _keep(context: KeeperContext, options: DropOptions, board: DropBoard, start: Start) -> None:
    feed = DropFeed(options)
    board.feed = feed
    pause = FIRST_PAUSE
    try:
        while not context.stopping:
            if not (options.metrics or feed.watchers):
                _report(context, feed, listening=False)
                context.wait(LOOK_SECONDS)
                continue
            began = time.monotonic()
            try:
                _hear(context, feed, start)
            except WatchingError as error:
                pause = FIRST_PAUSE if time.monotonic() - began > LONGEST_PAUSE else pause
                _log.warning("drops are not heard", extra={"fields": {"why": str(error)}})
                feed.end(str(error))
                _report(context, feed, listening=False)
                context.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
    finally:
        board.feed = None
        feed.end()


def _hear(context: KeeperContext, feed: DropFeed, start: Start) -> None:
    """Hand on what one watching process prints, until nobody needs it."""
    process = start()
    feed.restart()
    _log.info("drops are heard", extra={"fields": {"process": process.pid}})
    needed = time.monotonic()
    reported = 0.0
    try:
        while not context.stopping:
            if context.wait(LOOK_SECONDS, process.fileno()):
                for line in process.read_lines():
                    feed.take(line)
                feed.failure = ""
            now = time.monotonic()
            if feed.options.metrics or feed.watchers:
                needed = now
            if now - needed > LINGER_SECONDS:
                feed.forget()
                return
            if now - reported >= REPORT_SECONDS:
                _report(context, feed, listening=True)
                reported = now
    finally:
        process.close()


def _report(context: KeeperContext, feed: DropFeed, *, listening: bool) -> None:
    samples = (
        *feed.counts.list_samples(),
        Sample("drops_listening", int(listening), help="Whether drops are heard now."),
        Sample("drops_watchers", feed.watchers, help="Who watches drops now."),
    )
    context.report(
        KeeperStatus(ready=True, degraded=bool(feed.failure), why=feed.failure, samples=samples)
    )
