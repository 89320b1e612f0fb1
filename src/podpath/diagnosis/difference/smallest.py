"""The least of some differences that cures, whatever the test of a cure is.

Single differences are tried first, those that the fault quotes before the others. Where none cures
alone, what cures together is cut down by halves until nothing of it can be left out (ddmin: Zeller
and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

from podpath.diagnosis.difference.difference import Difference
from podpath.net.provenance import Span
from podpath.node.change import SetSysctl

SINGLES = 400
"""Differences that are tried alone, at most."""
PAIRED = 24
"""Differences that are tried two by two where nothing else cures."""
WHO = ("address", "route", "policy rule", "neighbour", "link")
"""Kinds that say which node it is: of another machine, they are no cure."""
Taken = tuple[Difference, ...]
Test = Callable[[Taken], bool]


def find_smallest(differences: Sequence[Difference], cures: Test) -> tuple[Taken, ...]:
    """Return every single difference that cures alone; else one smallest set that cures together;
    nothing where none does.

    `differences` stand in the order in which they are tried.
    """
    ordered = [each for each in differences if each.can_be_taken]
    alone = tuple((each,) for each in ordered[:SINGLES] if cures((each,)))
    if alone:
        return alone
    for together in _universes(ordered):
        if cures(together):
            return (_cut_down(together, cures),)
    pair = next((pair for pair in combinations(ordered[:PAIRED], 2) if cures(pair)), None)
    return (pair,) if pair is not None else ()


def order_by_nearness(
    differences: Sequence[Difference], quoted: Collection[Span], named: Collection[str] = ()
) -> list[Difference]:
    """Order what is quoted or named before the rest, and what says which node it is last."""

    def is_near(each: Difference) -> bool:
        setting = any(
            isinstance(change, SetSysctl) and change.key in named for change in each.changes
        )
        chain = each.place is not None and each.place.here.name in named
        return setting or chain or any(span in quoted for span in each.here)

    return sorted(differences, key=lambda each: (not is_near(each), each.kind in WHO))


def _universes(differences: Sequence[Difference]) -> Iterator[Taken]:
    """Yield ever smaller sets that may cure together: all, what does not say which node it is, and
    each kind alone.
    """
    yield tuple(differences)
    yield tuple(each for each in differences if each.kind not in WHO)
    for kind in dict.fromkeys(each.kind for each in differences):
        yield tuple(each for each in differences if each.kind == kind)


def _cut_down(taken: Taken, cures: Test) -> Taken:
    """Leave out whatever can be left out: halves first, then ever smaller parts."""
    parts = 2
    while len(taken) > 1:
        size = -(-len(taken) // parts)
        starts = range(0, len(taken), size)
        pieces = [taken[start : start + size] for start in starts]
        rests = [taken[:start] + taken[start + size :] for start in starts]
        smaller = next(
            (some for some in (*pieces, *rests) if some and len(some) < len(taken) and cures(some)),
            None,
        )
        if smaller is not None:
            parts = 2 if smaller in pieces else max(parts - 1, 2)
            taken = smaller
        elif size == 1:
            return taken
        else:
            parts = min(parts * 2, len(taken))
    return taken
