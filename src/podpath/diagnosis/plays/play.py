"""One thing worth asking for, and the clues that support it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from podpath.diagnosis.clues import Clue
from podpath.diagnosis.holdings import AnsweringOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A question of the playbook.

    In `ask` the words {address}, {port}, {pod}, {service} and {device} are filled in with what the
    evidence shows; what it does not show stands there in capitals. {overlay} are the ports of
    tunnels between nodes, where the evidence speaks of a cluster.
    """

    fact: str
    ask: str
    decides: tuple[str, ...]
    """What each answer would mean."""
    signs: Mapping[Clue, int] = field(default_factory=dict)
    """How much each clue supports it: 1 a little, 2 it fits, 4 it is what one thinks of first."""
    needs: frozenset[Clue] = frozenset()
    """Clues one of which must be present; empty where it is worth asking in any case."""
    held: frozenset[AnsweringOutput] = frozenset()
    """What the evidence has to hold whole for the question to be answered already; empty where it
    never is.
    """
    base: int = 0
    """Its weight without any clue."""
    otherwise: int = 0
    """Its weight where none of the clues that it needs is there: 0 where it is not asked
    then.
    """
