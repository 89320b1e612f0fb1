"""What a hook says of a packet in the end."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.boundaries import BoundaryReason
from podpath.xtables.verdicts import ACCEPT, DROP, Accept, Drop, Reject

__all__ = ["ACCEPT", "DROP", "Accept", "Drop", "Queued", "Reject", "Verdict"]


class Queued(NamedTuple):
    """The packet's fate lies with something that is not modeled (a userspace queue, a rule that
    never ends).
    """

    reason: BoundaryReason
    ask: str = ""


Verdict = Accept | Drop | Reject | Queued
