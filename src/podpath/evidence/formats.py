"""What a format is: how it is recognized and how it is read. The table of all formats stands in
`evidence.recognition`.

A reader gets the lines of one block and gives records and gaps; it never raises for bad input. A
recognizer says how sure it is that a block is of its format from the block's own text (and the
command that printed it, where a prompt shows one).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from podpath.evidence.records import Reading
from podpath.evidence.text.tokenizer import is_ellipsis, strip_terminal
from podpath.net.provenance import Source

CERTAIN, LIKELY, POSSIBLE, NO = 100, 60, 30, 0
"""Degrees of recognition: a unique signature; lines of the right shape; a shape that other formats
share; none.
"""


class Format(NamedTuple):
    """One evidence format."""

    name: str
    """The command as it is usually typed: `ip addr`, `iptables-save`, `ovs-appctl bond/show`."""
    recognise: Callable[[Source], int]
    """Return a degree of recognition, 0 to 100, by looking at the first lines only."""
    read: Callable[[Source], Reading]
    """Read the whole source. Never raises."""
    decides: bool = True
    """False for what only tells of failures or of versions: no line of it decides what becomes of a
    packet.
    """


SAMPLE_LINES, SAMPLE_WIDTH = 40, 2000
"""How much a recognizer looks at: it must cost nothing on a log of 100 MB."""


@lru_cache(maxsize=8)  # each format looks at the same lines
def sample(source: Source) -> tuple[str, ...]:
    """Return the first lines of a source that are not blank and no mere ellipsis, cut to a bearable
    width.
    """
    chosen: list[str] = []
    for line in islice(source.lines, SAMPLE_LINES * 5):
        cut = strip_terminal(line[:SAMPLE_WIDTH])
        if cut and not cut.isspace() and not is_ellipsis(cut):
            chosen.append(cut)
            if len(chosen) == SAMPLE_LINES:
                break
    return tuple(chosen)


def share(lines: Sequence[str], pattern: re.Pattern[str]) -> float:
    """Return the share of lines that the pattern matches from their start; 0 where there are
    none.
    """
    return sum(pattern.match(line) is not None for line in lines) / len(lines) if lines else 0.0
