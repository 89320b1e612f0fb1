"""Claims and their reasons as sentences. Most checks state both in words; what a walk decided is
put into words by `sentences`, which is loaded only then: it takes longer than many a capture to
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.checks.ground import Ground, Unsettling

if TYPE_CHECKING:  # as `sentences`
    from podpath.checks.cause import Claim, PacketStory


def spell_claim(claim: str | Claim) -> str:
    """Name a cause in one sentence, and say what goes with it."""
    if isinstance(claim, str):
        return claim
    from podpath.report.sentences.narrative import spell_cause  # noqa: PLC0415 - slow to load

    return spell_cause(claim)


def spell_link(link: str | PacketStory | Ground | Unsettling) -> str:
    """Say one link of the chain from the evidence to the claim."""
    if isinstance(link, str):
        return link
    from podpath.report.sentences.narrative import spell_ground  # noqa: PLC0415 - slow to load

    return spell_ground(link)
