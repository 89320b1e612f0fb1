"""Every class of flows in a set of headers: what the walk of one header proves of others is taken
out of what is left, until nothing is left or a bound is met.

```text
      left: all headers that are asked about
        |
        |  take one header, walk it        -> its answer
        |  what was it asked on the way?   -> all headers that would be told the same: a class
        |  take these out of what is left
        v
      nothing left: every header has its answer       bound met: what is left is said to be unknown
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from podpath.net.addresses import Address
from podpath.net.probe import EPHEMERAL, Probe
from podpath_fleet.flow_classes import FlowHeader, list_offsets
from podpath_fleet.header_region import (
    HeaderRegion,
    LookedRanges,
    Ranges,
    holds,
    join_ranges,
)
from podpath_fleet.rules_met import MetRule, WalkNote

A = TypeVar("A")
_USUAL_PORTS = (443, 80, 53)
"""Destination ports that a witness has where it can."""


class HeaderSpace(NamedTuple):
    """Headers that are asked about, which start at one place."""

    sample: Probe
    """Any of them: it says protocol, family, place and how it is sent."""
    region: HeaderRegion
    alike: tuple[Probe, ...] = ()
    """Of other places: of whatever they send the same is true, with the names of the two places
    exchanged (`alike_pods`).
    """

    def pick(self, region: HeaderRegion) -> Probe:
        """Return one probe of a region; of all, one that people would ask about."""
        family = self.sample.src.family
        return self.sample._replace(
            src=Address(family, region.src[0][0]),
            dst=Address(family, _widest(region.dst)),
            dport=_usual(region.dport, _USUAL_PORTS),
            sport=_usual(region.sport, (EPHEMERAL,)),
        )


@dataclass(frozen=True, slots=True)
class ReachClass(Generic[A]):
    """Headers that provably have one answer."""

    space: HeaderSpace
    regions: tuple[HeaderRegion, ...]
    """Have nothing in common."""
    witness: Probe
    """The one that was walked."""
    answer: A
    shared: bool = False
    """True where the witness was not walked by itself: parts of its walk are those of others
    (`shared_branches`).
    """
    met: frozenset[MetRule] = frozenset()
    """The rules of iptables that matched its packets."""
    carried: frozenset[int] = frozenset()
    """The addresses that its packets had on their way."""
    calculated: bool = False
    """True where the walk used the source's address for more than comparisons."""


@dataclass(frozen=True, slots=True)
class Enumeration(Generic[A]):
    """The classes of a space."""

    classes: tuple[ReachClass[A], ...]
    left: tuple[HeaderRegion, ...]
    """Headers that nobody walked; empty where every header of the space is in a class."""


def enumerate_classes(
    space: HeaderSpace,
    walk: Callable[[FlowHeader], A],
    most: int,
    known: Sequence[ReachClass[A]] = (),
    *,
    parts: Sequence[HeaderRegion] | None = None,
    note: Callable[[], WalkNote] = WalkNote,
) -> Enumeration[A]:
    """Return the classes of a space, by at most so many walks; those that are known have nothing in
    common.

    `parts` are what of the space is asked about, where that is not all; `note` tells what
    the last walk met.
    """
    asked = (space.region,) if parts is None else parts
    gone = [region for one in known for region in one.regions]
    left = [rest for region in asked if region for rest in take_out(region, gone)]
    offsets = list_offsets(space.sample.src.family)
    classes: list[ReachClass[A]] = list(known)
    most += len(known)
    while left and len(classes) < most:
        witness = space.pick(left[-1])
        looked = LookedRanges(offsets)
        answer = walk(FlowHeader(witness, looked))
        learned = looked.narrow(space.region)
        held, left = _split(left, learned)
        noted = note()
        classes.append(
            ReachClass(
                space,
                held,
                witness,
                answer,
                met=noted.met,
                carried=noted.carried,
                calculated=looked.is_calculated(offsets["src"]),
            )
        )
    return Enumeration(tuple(classes), tuple(left))


def take_out(region: HeaderRegion, gone: Iterable[HeaderRegion]) -> list[HeaderRegion]:
    """Return what of a region is in none of others, which have nothing in common."""
    alike: dict[HeaderRegion, list[tuple[int, int]]] = {}
    for part in gone:
        alike.setdefault(part._replace(dst=()), []).extend(part.dst)
    left = [region]
    for rest, parts in alike.items():
        left = _split(left, rest._replace(dst=join_ranges(parts)))[1]
    return left


def _split(
    left: list[HeaderRegion], learned: HeaderRegion
) -> tuple[tuple[HeaderRegion, ...], list[HeaderRegion]]:
    """Return what of the regions is in another one, and what is not."""
    met: list[HeaderRegion] = []
    rest: list[HeaderRegion] = []
    for region in left:
        common = region.meet(learned)
        if common:
            met.append(common)
            rest.extend(region.without(common))
        else:
            rest.append(region)
    return tuple(met), rest


def _widest(ranges: Ranges) -> int:
    """Return the second number of the widest range: the first is often a network's own."""
    first, last = max(ranges, key=_width)
    return min(first + 1, last)


def _width(part: tuple[int, int]) -> int:
    return part[1] - part[0]


def _usual(ranges: Ranges, usual: tuple[int, ...]) -> int:
    """Return a usual number that is in the ranges, else their first."""
    found: Iterator[int] = (number for number in usual if holds(ranges, number))
    return next(found, ranges[0][0])
