"""The table of confirmed connections of one namespace in one branch of a walk."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection


class ConntrackTable:
    """Confirmed connections, found by tuple and zone."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        """Start empty."""
        self._entries: dict[tuple[int, ...], tuple[Connection, bool]] = {}
