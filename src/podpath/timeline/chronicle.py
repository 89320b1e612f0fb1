"""All that logs say about a failure: the window, what changed in it, and the known chains that lead
from there to facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo

from podpath.net.provenance import Gap
from podpath.timeline.event import LogEvent
from podpath.timeline.stories import Story
from podpath.timeline.suspects import Marked, Suspect
from podpath.timeline.window import FailureWindow

SURE = 0.5
"""The score from which a suspect is named as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chronicle:
    """What logs say about a failure."""

    window: FailureWindow | None
    """None where nobody says when it failed."""
    marked: tuple[Marked, ...] = ()
    """What means something to the network, in the order of time: in the window and round it."""
    suspects: tuple[Suspect, ...] = ()
    stories: tuple[Story, ...] = ()
    symptoms: tuple[LogEvent, ...] = ()
    """Failures that the logs tell of, the first ones."""
    logs: int = 0
    events: int = 0
    covered: bool = False
    """True where the logs reach over the whole window: what they do not show then did not happen in
    what they log.
    """
    gaps: tuple[Gap, ...] = ()
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    zone: tzinfo = UTC
    """The zone that moments are told in."""

    @property
    def verdict(self) -> str:
        """`found`: something in the window is known to break networks; `possible`: nobody can say.

        `none` says that nothing changed, which is said only where every line was read.
        """
        if self.window is None:
            return "possible"
        if (self.stories and self.stories[0].score >= SURE) or (
            self.suspects and self.suspects[0].score >= SURE
        ):
            return "found"
        if self.covered and not self.gaps:
            return "none"
        return "possible"

    @property
    def exit_code(self) -> int:
        """0 nothing changed in the window, 1 something did, 3 undecided for lack of evidence."""
        return {"found": 1, "possible": 3, "none": 0}[self.verdict]
