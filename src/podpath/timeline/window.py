"""The window in which it broke: after the last request that worked, and before the first one that
did not was sent.

A request that times out was sent before it is seen to fail: the first bad one began at its failure
minus its timeout.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.provenance import Span

LOOKBACK = 600.0
"""Seconds before the first failing request that are looked at where nobody says when it last
worked.
"""
RESOLUTION = 1.0
"""Seconds that stamps of neighboring logs may differ by: most tell whole seconds."""
NEARLY = 30.0
"""Seconds before the window that are still shown as close to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureWindow:
    """When it broke."""

    failed_at: float
    """When the first failure was seen."""
    timeout: float | None = None
    """How long the failed request had waited; None where nobody says, and it may have begun any
    time before.
    """
    last_ok: float | None = None
    """When it last worked; None where nobody says."""
    failed_by: Span | None = None
    """The line that says when it failed; None where the user says so."""
    ok_by: Span | None = None

    @property
    def began(self) -> float:
        """When the first failing request began, as late as it can have."""
        return self.failed_at - (self.timeout or 0.0)

    @property
    def start(self) -> float:
        """From when on a change may be what broke it."""
        if self.last_ok is not None and self.last_ok <= self.began:
            return self.last_ok
        return self.began - LOOKBACK

    def holds(self, time: float) -> bool:
        """Tell whether a change at that moment may be what broke it."""
        return self.start - RESOLUTION <= time <= self.began + RESOLUTION
