"""What the configuration says of drops."""

from __future__ import annotations

from dataclasses import dataclass, field

from podpath.net.tables import parse_duration

MOST_WATCHERS = 6
"""Connections of the endpoint are eight: snapshots keep some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropOptions:
    """The section [drops] of the agent's configuration; without it no drop is heard."""

    metrics: bool = True
    """Hear drops all the time, and count them for Prometheus; else only while somebody watches."""
    watchers: int = 0
    """How many may watch at once through the endpoint of [snapshot]; 0 serves nobody."""
    longest: float = field(default=600.0, metadata={"parse": parse_duration})
    """How long one may watch."""
    lines: int = 50
    """Drops a second that each watcher is told of; beyond, they are counted."""
    every: float = field(default=5.0, metadata={"parse": parse_duration})
    """How often rates are told and counters grow."""
    memory: int = 2048
    """MB of address space that the watching process may have."""
    node_netns: str = ""
    """The node's own network namespace, where it is not that of process 1: a name, a process or a
    file.
    """

    def __post_init__(self) -> None:
        """Refuse what could never be served."""
        if not 0 <= self.watchers <= MOST_WATCHERS:
            raise ValueError(f"watchers of 0 to {MOST_WATCHERS}")
        if self.lines < 1 or self.memory < 256 or self.every < 1:
            raise ValueError("lines of 1 or more, memory of 256 or more, every of 1s or more")
        if not (self.metrics or self.watchers):
            raise ValueError("metrics, or watchers of 1 or more")
