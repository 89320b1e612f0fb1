"""Where the ends of a connection are rewritten on its way: read off its passages in their order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from podpath.capture.sightings import Passage, Translation


def find_translations(passages: Sequence[Passage]) -> tuple[Translation, ...]:
    """Return each place of a way at which the ends change.

    A bridge under br_netfilter shows packets in the middle of their translation; such a passage
    changes the ends and the next may change them back, and both are given.
    """
    return tuple(
        Translation(after=one.point, before=other.point, original=one.ends, translated=other.ends)
        for one, other in pairwise(passages)
        if one.ends != other.ends
    )
