"""What a part of protect must offer to run in the agent, and the thread in which a part lives.

A part (chain, sysctl, order, repair) is one `Keeper`: it starts, says whether what it keeps holds
and what is wrong, and stops. Most parts are a `Body`, a function that watches and mends until it is
told to stop, and become a keeper by `ThreadKeeper`, which restarts the body, more and more slowly,
where the world fails it: a part that fails takes no other with it.

Parts log through `logging.getLogger("podpath.protect.NAME")`, fields in `extra={"fields": {...}}`;
the agent writes them as JSON.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from podpath.net.errors import PodpathError

Severity = Literal["info", "warning", "error"]
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a body that failed begins anew; doubled at each failure in a row."""
SHORTEST_PAUSE = 0.1
"""Seconds before a body that returned begins anew."""
JOIN_SECONDS = 5.0
REPORT_SECONDS = 5.0
"""Between two words of a server on how it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFinding:
    """One thing that does not hold; `check` and `subject` together say which."""

    check: str
    """What kind of thing: `sysctl-drift`, `jump-order`. A word of the metrics' label, so of a small
    set.
    """
    subject: str
    """What it is about: a key, a chain, a file, a pod."""
    severity: Severity
    """`error`: pods lose connections or protection; `warning`: they may; `info`: worth knowing."""
    claim: str
    """What is wrong, one sentence."""
    evidence: tuple[str, ...] = ()
    """Where it stands: `FILE:LINE: text`, `PATH = value`."""
    mend: tuple[str, ...] = ()
    """The commands or settings that mend it, for a person."""


Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One value for `/metrics`; the agent adds the prefix `podpath_protect_`, and `_total` to
    counters.
    """

    name: str
    value: float
    labels: Labels = ()
    kind: Literal["counter", "gauge", "histogram"] = "gauge"
    help: str = ""
    ending: str = ""
    """Of a histogram's value: `_bucket`, `_sum`, `_count`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperStatus:
    """How a part stands."""

    ready: bool
    """Whether what it keeps holds: `/readyz` is the AND of all parts."""
    why: str = ""
    """Why it is not ready, or what is degraded though it is; one sentence."""
    findings: tuple[AgentFinding, ...] = ()
    samples: tuple[Sample, ...] = ()
    degraded: bool = False
    """Ready, and yet something is missing (a drop-in that cannot be written, a watch that had to
    become a poll).
    """


def all_hold(statuses: Mapping[str, KeeperStatus]) -> bool:
    """Tell whether everything that is kept holds: what readiness, taint and condition say alike."""
    return bool(statuses) and all(status.ready for status in statuses.values())


STARTING = KeeperStatus(ready=False, why="it has not looked yet")


class Keeper(Protocol):
    """A part of protect, as the agent runs it. Every method may be called from any thread."""

    @property
    def name(self) -> str:
        """Return the part's name, as its section of the configuration has it."""

    def start(self) -> None:
        """Begin to keep; return at once."""

    def status(self) -> KeeperStatus:
        """Say how it stands now; cheap, without a look at the world."""

    def alive(self) -> bool:
        """Tell whether it works at all: `/livez` is the AND of all parts."""

    def stop(self) -> None:
        """End, and leave what is kept as it is; return when it has ended."""


class KeeperContext:
    """What a body is given: where it reports how it stands, and how it learns that it shall
    stop.
    """

    def __init__(self, heard: Callable[[KeeperStatus], None]) -> None:
        """Open the descriptor that becomes readable when the body shall stop."""
        self._heard = heard
        self._stop = threading.Event()
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def report(self, status: KeeperStatus) -> None:
        """Say how the part stands."""
        self._heard(status)

    @property
    def stopping(self) -> bool:
        """Tell whether the body shall end."""
        return self._stop.is_set()

    def wait(self, seconds: float, *descriptors: int) -> tuple[int, ...]:
        """Wait until a descriptor is readable, the time is over or the body shall stop; give those
        that are readable.
        """
        poll = select.poll()
        for descriptor in (self.descriptor, *descriptors):
            poll.register(descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)]
        return tuple(descriptor for descriptor in ready if descriptor != self.descriptor)

    def stop(self) -> None:
        """Ask the body to end."""
        self._stop.set()
        os.eventfd_write(self.descriptor, 1)

    def close(self) -> None:
        """Close the descriptor, when the body has ended."""
        os.close(self.descriptor)


Body = Callable[[KeeperContext], None]
"""Watches, mends and reports until `context.stopping`; what it opens it closes. It begins anew
where it returns before, and ever more slowly where `PodpathError` or `OSError` ended it.
"""


class ThreadKeeper:
    """A keeper whose body runs in a thread of its own."""

    def __init__(self, name: str, body: Body, *, first_pause: float = FIRST_PAUSE) -> None:
        """Keep the body; nothing runs before `start`."""
        self._name, self._body, self._pause = name, body, first_pause
        self._status = STARTING
        self._desk: KeeperContext | None = None
        self._thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        """Return the part's name."""
        return self._name

    def status(self) -> KeeperStatus:
        """Return what the body reported last."""
        return self._status

    def alive(self) -> bool:
        """Tell whether the thread runs; a bug in a body ends it."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin the body in its thread."""
        self._desk = KeeperContext(self._hear)
        self._thread = threading.Thread(
            target=self._live, args=(self._desk,), name=f"keep-{self._name}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Tell the body to end, and wait for it."""
        if self._desk is None or self._thread is None:
            return
        self._desk.stop()
        self._thread.join(JOIN_SECONDS)
        if not self._thread.is_alive():
            self._desk.close()
        self._desk = self._thread = None

    def _hear(self, status: KeeperStatus) -> None:
        self._status = status

    def _live(self, context: KeeperContext) -> None:
        log = logging.getLogger(f"podpath.protect.{self._name}")
        pause = self._pause
        while not context.stopping:
            began = time.monotonic()
            try:
                self._body(context)
                context.wait(SHORTEST_PAUSE)
            except (PodpathError, OSError) as error:
                self._hear(
                    KeeperStatus(
                        ready=False,
                        why=str(error),
                        findings=self._status.findings,
                        samples=self._status.samples,
                    )
                )
                if time.monotonic() - began > LONGEST_PAUSE:
                    pause = self._pause
                log.warning(
                    "the part failed and begins anew",
                    extra={"fields": {"error": str(error), "pause": pause}},
                )
                context.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)


def keep_serving(
    context: KeeperContext,
    serve: Callable[[], str],
    complain: Callable[[str], None],
    samples: tuple[Sample, ...],
) -> None:
    """Serve until the part shall stop. `serve` returns an empty string then, or why it cannot
    begin, which is complained of once for each reason; then it is tried again. `samples` are those
    of a part that does not serve.
    """
    told = ""
    while not context.stopping:
        why = serve()
        if not why:
            return
        if why != told:
            complain(why)
            told = why
        context.report(KeeperStatus(ready=True, degraded=True, why=why, samples=samples))
        context.wait(REPORT_SECONDS)
