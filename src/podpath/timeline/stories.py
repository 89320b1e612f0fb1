"""Known chains of causes found in what a log says: each link an event, in their order, the last one
in the window.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podpath.timeline.chain import CauseChain, ChainLink
from podpath.timeline.mark_kinds import MarkKind
from podpath.timeline.marks import weigh_mark
from podpath.timeline.suspects import Marked
from podpath.timeline.window import RESOLUTION, FailureWindow

REACH = 1800.0
"""Seconds before the window that a chain may have begun."""
AFTER = 120.0
"""Seconds after the first failure in which the kernel may still say what fails."""
FLUSHED = 1.0
"""Seconds in which syslog writes what the journal kept of a boot."""
BOOTING = 120.0
"""Seconds from the kernel's first line in which what starts is a part of the boot."""
_TRIED = 6
"""Events tried for one link: the latest that fit."""


class ToldLink(NamedTuple):
    """A link of a chain, and the event that it was."""

    link: ChainLink
    marked: Marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A known chain that the log shows."""

    chain: CauseChain
    told: tuple[ToldLink, ...]
    """Links that the log shows, first to last; optional ones may be missing."""
    score: float
    """0 to 1: how much of the chain is there, how likely its last link is to break a network, how
    close it was.
    """
    before: float | None
    """Seconds from the last link to the beginning of the first failing request; None where no
    window is known.
    """

    @property
    def strike(self) -> Marked:
        """The event that broke the connections."""
        return self.told[-1].marked


def find_stories(
    chains: Iterable[CauseChain], marked: Sequence[Marked], window: FailureWindow | None
) -> tuple[Story, ...]:
    """Find the chains that end in the window, the likeliest first; anywhere in the log where no
    window is known.
    """
    found = [
        story for chain in chains if (story := _match_chain(chain, marked, window)) is not None
    ]
    shown = {lead.check for story in found if story.chain.observes for lead in story.chain.leads}
    caused = {
        lead.check for story in found if not story.chain.observes for lead in story.chain.leads
    }

    def rank(story: Story) -> tuple[bool, bool, float, int, str]:
        """Put causes before what only shows them, and first those that the kernel's own lines
        confirm.
        """
        checks = {lead.check for lead in story.chain.leads}
        explained = story.chain.observes and bool(checks & caused)
        confirmed = not story.chain.observes and bool(checks & shown)
        return explained, not confirmed, -story.score, -len(story.told), story.chain.name

    return tuple(sorted(found, key=rank))


def _match_chain(
    chain: CauseChain, marked: Sequence[Marked], window: FailureWindow | None
) -> Story | None:
    last = chain.links[-1]
    strikes = [
        place
        for place, one in enumerate(marked)
        if _fits(last, one) and _strikes(chain, one, window)
    ]
    if last.running:
        strikes = [place for place in strikes if not _is_of_boot(marked, place)]
    best: tuple[ToldLink, ...] = ()
    for place in reversed(strikes[-_TRIED:]):
        told = _trace_back(chain.links[:-1], marked, place)
        if told is not None and len(told) + 1 > len(best):
            best = (*told, ToldLink(last, marked[place]))
    if not best:
        return None
    strike = best[-1].marked
    before = None if window is None else window.began - strike.event.time
    return Story(chain=chain, told=best, score=_score(chain, best, before, window), before=before)


def _strikes(chain: CauseChain, one: Marked, window: FailureWindow | None) -> bool:
    if window is None:
        return True
    if chain.observes:
        return window.start - RESOLUTION <= one.event.time <= window.failed_at + AFTER
    return window.holds(one.event.time)


def _is_of_boot(marked: Sequence[Marked], place: int) -> bool:
    """Tell whether an event is a part of the node's boot. What the journal kept until syslog ran
    may stand in syslog's file before the kernel's first line.
    """
    time = marked[place].event.time
    start = bisect_left(marked, time - BOOTING, key=_time)
    end = bisect_right(marked, time + FLUSHED, key=_time)
    return any(one.mark.kind is MarkKind.BOOT for one in marked[start:end])


def _time(one: Marked) -> float:
    return one.event.time


def _trace_back(
    links: Sequence[ChainLink], marked: Sequence[Marked], end: int
) -> tuple[ToldLink, ...] | None:
    """Find the links before an event, each the latest that fits; None where one that has to be
    there is not.
    """
    if not links:
        return ()
    link, time = links[-1], marked[end].event.time
    tried = 0
    for place in range(end - 1, -1, -1):
        if marked[place].event.time < time - link.within - RESOLUTION or tried == _TRIED:
            break
        if _fits(link, marked[place]) and marked[place].event != marked[end].event:
            tried += 1
            earlier = _trace_back(links[:-1], marked, place)
            if earlier is not None:
                return (*earlier, ToldLink(link, marked[place]))
    if link.optional:
        return _trace_back(links[:-1], marked, end)
    return None


def _fits(link: ChainLink, one: Marked) -> bool:
    """Tell whether an event is what a link says."""
    mark = one.mark
    if link.kinds and mark.kind not in link.kinds:
        return False
    if link.verbs and mark.verb not in link.verbs:
        return False
    if link.subject is not None and link.subject.fullmatch(mark.subject) is None:
        return False
    return link.text is None or link.text.search(one.event.message[:1000]) is not None


def _score(
    chain: CauseChain, told: Sequence[ToldLink], before: float | None, window: FailureWindow | None
) -> float:
    strike = weigh_mark(told[-1].marked.mark)
    whole = 0.6 + 0.4 * len(told) / len(chain.links) if len(chain.links) > 1 else 0.75
    if before is None or window is None:
        return round(0.5 * strike * whole, 3)
    span = max(window.began - window.start, 1.0)
    return round(strike * whole * (1.0 - 0.3 * min(max(before, 0.0) / span, 1.0)), 3)
