"""A log of a node on which an upgrade of polkit took the pods' network down, and helpers to read
such logs.
"""

from __future__ import annotations

from datetime import UTC, datetime

from podpath.net.provenance import Source
from podpath.timeline.build import ToldFailure, build_chronicle
from podpath.timeline.chain_files import load_chains
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent
from podpath.timeline.reading import Logs, read_logs

NOW = datetime(2025, 3, 20, 12, tzinfo=UTC).timestamp()
CLOCK = Clock(now=NOW)
MESSAGES = """\
Mar 12 03:10:01 kn-04 CROND[2201]: (root) CMD (/usr/lib64/sa/sa1 1 1)
Mar 12 03:13:20 kn-04 systemd[1]: Started Session 411 of user ops.
Mar 12 03:13:38 kn-04 yum[3312]: Updated: polkit-0.112-26.el7_9.1.x86_64
Mar 12 03:13:41 kn-04 systemd[1]: Stopping Authorization Manager...
Mar 12 03:13:41 kn-04 systemd[1]: Stopping Dynamic System Tuning Daemon...
Mar 12 03:13:45 kn-04 systemd[1]: Started Authorization Manager.
Mar 12 03:13:46 kn-04 systemd[1]: Starting Dynamic System Tuning Daemon...
Mar 12 03:13:47 kn-04 systemd[1]: Started Dynamic System Tuning Daemon.
Mar 12 03:20:01 kn-04 CROND[4201]: (root) CMD (/usr/lib64/sa/sa1 1 1)
"""
CLIENT = """\
I0312 03:13:39.100000       1 leader.go:280] get leader info succeeded
W0312 03:13:59.815335       1 leader.go:286] failed: Get https://10.9.0.1:443/api?timeout=10s: context deadline exceeded.
W0312 03:14:10.815335       1 leader.go:286] failed: Get https://10.9.0.1:443/api?timeout=10s: context deadline exceeded.
"""  # noqa: E501


def source(text: str, name: str = "messages", **fields: float | None) -> Source:
    """Make a source of a text."""
    return Source(
        name=name, lines=tuple(text.rstrip("\n").split("\n")), taken_at=fields.get("taken_at")
    )


def logs(*texts: str, clock: Clock = CLOCK) -> Logs:
    """Read texts as logs, each under a name of its own."""
    return read_logs([source(text, f"log-{number}") for number, text in enumerate(texts)], clock)


def chronicle(*texts: str, clock: Clock = CLOCK, told: ToldFailure | None = None) -> Chronicle:
    """Say what texts tell, with the known chains."""
    return build_chronicle(logs(*texts, clock=clock), load_chains(), told)


def at(clock: str, day: str = "2025-03-12") -> float:
    """Return a moment in UTC."""
    return datetime.fromisoformat(f"{day}T{clock}+00:00").timestamp()


def event(program: str, message: str, time: float = NOW) -> LogEvent:
    """Make an event."""
    made = logs(f"Mar 12 03:13:20 kn-04 {program}: {message}").readings[0].events[0]
    return made._replace(time=time)
