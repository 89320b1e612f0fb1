"""What a format is: how it is recognised and how it is read. The table of all formats stands in `evidence.recognition`.

A reader gets the lines of one block and gives records and gaps; it never raises for bad input. A recogniser says how sure
it is that a block is of its format from the block's own text (and the command that printed it, where a prompt shows one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from podpath.evidence.records import Reading
from podpath.net.provenance import Source

CERTAIN, LIKELY, POSSIBLE, NO = 100, 60, 30, 0
"""Degrees of recognition: a unique signature; lines of the right shape; a shape that other formats share; none."""


class Format(NamedTuple):
    """One evidence format."""

    name: str
    """The command as it is usually typed: `ip addr`, `iptables-save`, `ovs-appctl bond/show`."""
    recognise: Callable[[Source], int]
    """Give a degree of recognition, 0 to 100, by looking at the first lines only."""
    read: Callable[[Source], Reading]
    """Read the whole source. Never raises."""
