"""Why the kernel freed a packet: the `skb:kfree_skb` trace event, read in an instance of its own
(trace/events.rst).

Reasons are printed by name by the running kernel from its own table, so nothing here depends on
their numbers. The event has no namespace; a reader takes the drops that happen while it alone
sends.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from podpath_lab.apply import TRACING, LabError

PREFIX = "podpath-"
_EVENT = re.compile(
    r"(?P<seconds>\d+)\.(?P<fraction>\d+): kfree_skb: .*?"
    r"protocol=(?P<protocol>\d+) location=(?P<location>\S+)(?: \[\w+\])? reason: (?P<reason>\w+)"
)


class FreedPacket(NamedTuple):
    """One freed packet."""

    time: float
    """Seconds since boot."""
    reason: str
    """The kernel's name without SKB_DROP_REASON_, e.g. `NETFILTER_DROP`."""
    location: str
    """The function that freed it, with its offset and without its module:
    `nf_hook_slow+0x12/0x30`.
    """
    protocol: int
    """EtherType."""


class DropTracer:
    """A trace instance that records freed packets until it is closed."""

    def __init__(
        self, processor: int | None = None, turn: AbstractContextManager[object] | None = None
    ) -> None:
        """Make the instance, of one processor or of all; `LabError` where tracefs is not there.

        `turn` is held while a probe is under way: of those who share a processor, one at a time.
        """
        self.turn: AbstractContextManager[object] = turn if turn is not None else nullcontext()
        if not (TRACING / "instances").is_dir():
            raise LabError("drop reasons need tracefs: mount -t tracefs none /sys/kernel/tracing")
        remove_stale_instances()
        self._directory = TRACING / "instances" / f"{PREFIX}{os.getpid()}"
        self._directory.mkdir(exist_ok=True)
        if processor is not None:
            (self._directory / "tracing_cpumask").write_text(f"{1 << processor:x}")
        (self._directory / "events/skb/kfree_skb/enable").write_text("1")
        self._pipe = os.open(self._directory / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        self._rest = ""

    def read(self) -> list[FreedPacket]:
        """Return the drops since the last call."""
        text = self._rest
        while True:
            try:
                data = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            text += data.decode("ascii", "replace")
        *lines, self._rest = text.split("\n")
        return [_parse_event(found) for found in map(_EVENT.search, lines) if found]

    def close(self) -> None:
        """Remove the instance."""
        os.close(self._pipe)
        self._directory.rmdir()


def _parse_event(found: re.Match[str]) -> FreedPacket:
    when = float(f"{found['seconds']}.{found['fraction']}")
    return FreedPacket(when, found["reason"], found["location"], int(found["protocol"]))


def remove_stale_instances() -> None:
    """Remove instances whose process is gone: a killed lab leaves only this, and the next one
    clears it.
    """
    for directory in (TRACING / "instances").glob(f"{PREFIX}*"):
        process = directory.name.removeprefix(PREFIX)
        if process.isdigit() and not is_running(int(process)):
            with suppress(OSError):  # another lab may clear it at the same moment
                directory.rmdir()


def is_running(process: int) -> bool:
    """Tell whether a process is there and not dead: one that nobody has waited for keeps its
    directory in /proc (proc_pid_stat(5), state Z).
    """
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    state = stat.rpartition(")")[2].split()[0]
    return state not in {"Z", "X"}
