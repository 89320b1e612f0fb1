"""The classes of many sources at once: what is found of one pod is told of all that its node treats
alike (`alike_pods`), and what holds of one pair of them of all pairs.

```text
     asked: pods a b c d ... to everything

     a to everything that is no pod like it      walked        a b c d ...   told once
     a to b                                      walked        each to each  told once
     a to the service that has a behind it       walked        b to its own, c to its own: walked
```

A class is that of its pod alone where its walk entered a chain that names such a pod, calculated
with the source's address, or had an address on its way that one of these pods has a tracked
connection with, or where its answer quotes or names one of the pods elsewhere than as the
place where the packet ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.net.probe import Probe
from podpath_fleet.alike_pods import AlikePods, mentions, rename
from podpath_fleet.header_region import (
    HeaderRegion,
    Ranges,
    holds,
    intersect,
    join_ranges,
    subtract,
)
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace, ReachClass, take_out
from podpath_fleet.reach_space import join_regions
from podpath_fleet.shared_branches import enumerate_space

TARGET = "the pod that has the address"
"""Where a packet between two alike pods ends."""
_Class = ReachClass[ReachAnswer]
_Found = tuple[HeaderSpace, Enumeration[ReachAnswer]]


class AlikeSpaces(NamedTuple):
    """Sets of headers that are the same but for their sources, which are alike."""

    spaces: tuple[HeaderSpace, ...]
    groups: tuple[AlikePods, ...]
    """The group that the sources are in, on each node that is asked; empty for a single space."""


def group_spaces(
    spaces: Sequence[HeaderSpace], groups: Sequence[tuple[AlikePods, ...]]
) -> list[AlikeSpaces]:
    """Put the spaces together whose sources are alike on every node; `groups` are those of each
    node.
    """
    homes = [_list_homes(found) for found in groups]
    together: dict[object, list[HeaderSpace]] = {}
    for place, space in enumerate(spaces):
        own = (space.sample.netns, space.sample.src)
        found = tuple(home.get(own) for home in homes)
        region, sample = space.region, space.sample
        single = region.src == ((sample.src.value, sample.src.value),) and sample.in_dev is None
        shape: object = place
        if single and all(one is not None for one in found):
            # where it is not asked about itself, exchanged names are not what is asked
            asked = holds(region.dst, sample.src.value)
            shape = (found, _without_source(sample), region._replace(src=()), asked)
        together.setdefault(shape, []).append(space)
    result = []
    for alike in together.values():
        own = (alike[0].sample.netns, alike[0].sample.src)
        known = [home[own] for home in homes] if len(alike) > 1 else []
        numbered = zip(groups, known, strict=False)
        result.append(AlikeSpaces(tuple(alike), tuple(found[number] for found, number in numbered)))
    return result


def _list_homes(groups: Sequence[AlikePods]) -> dict[object, int]:
    return {
        (pod.netns, pod.address): number
        for number, group in enumerate(groups)
        for pod in group.pods
    }


def _without_source(sample: Probe) -> Probe:
    return sample._replace(src=sample.dst, netns=None)


class AlikeFound(NamedTuple):
    """The classes of spaces whose sources are alike."""

    common: _Found | None
    """Those of all of them, told of the first; None for a single space."""
    own: tuple[_Found, ...]
    """Of each space, what is its own."""

    def list_all(self) -> Iterator[_Found]:
        """Yield all of them."""
        if self.common is not None:
            yield self.common
        yield from self.own

    def list_common(self) -> tuple[HeaderRegion, ...]:
        """Return the headers of common classes, in few regions."""
        classes = self.common[1].classes if self.common is not None else ()
        return join_regions(region for one in classes for region in one.regions)

    def expand(
        self, first: HeaderSpace, space: HeaderSpace, rest: Sequence[HeaderRegion]
    ) -> Enumeration[ReachAnswer]:
        """Return the classes of one space: its own, and the common ones as far as they are in some
        of the first source's headers.
        """
        found = [
            one for own, enumeration in self.own if own is space for one in enumeration.classes
        ]
        for one in self.common[1].classes if self.common is not None else ():
            parts = [
                common for region in one.regions for part in rest if (common := region.meet(part))
            ]
            if parts:
                regions = exchange_all(parts, first, space)
                found.append(
                    replace(one, space=space, regions=regions, witness=space.pick(regions[0]))
                )
        return Enumeration(tuple(found), ())


def enumerate_alike(walker: ReachWalker, asked: AlikeSpaces, number: int, most: int) -> AlikeFound:
    """Return the classes of spaces whose sources are alike on the node of that number, by at most
    so many walks for each of them.
    """
    if len(asked.spaces) < 2:
        only = tuple((space, enumerate_space(walker, space, most)) for space in asked.spaces)
        return AlikeFound(None, only)
    first = asked.spaces[0]
    sharing = _Sharing(asked.spaces, asked.groups[number])
    told = first._replace(alike=tuple(space.sample for space in asked.spaces[1:]))
    found = enumerate_space(walker, first, most, sharing.parts)
    classes = tuple(
        replace(one, space=told) for known in found.classes for one in sharing.share(known)
    )
    left = tuple(sharing.spread(found.left))
    regions = [region for one in classes for region in one.regions]
    rest = take_out(first.region, [*regions, *left])
    own = tuple(
        (space, enumerate_space(walker, space, most, exchange_all(rest, first, space)))
        for space in (asked.spaces if rest else ())
    )
    return AlikeFound((told, Enumeration(classes, left)), own)


def exchange_all(
    regions: Iterable[HeaderRegion], first: HeaderSpace, other: HeaderSpace
) -> tuple[HeaderRegion, ...]:
    """Return headers of the first source as those of an alike one: the names of the two are
    exchanged.
    """
    one, two = first.sample.src.value, other.sample.src.value
    both = join_ranges(((one, one), (two, two)))

    def exchange(dst: Ranges) -> Ranges:
        swapped = [(new, new) for old, new in ((one, two), (two, one)) if holds(dst, old)]
        return join_ranges((*subtract(dst, both), *swapped))

    return tuple(
        region._replace(src=other.region.src, dst=exchange(region.dst)) for region in regions
    )


class _Sharing:
    """What of one source's classes is true of all."""

    def __init__(self, spaces: Sequence[HeaderSpace], group: AlikePods) -> None:
        self._group = group
        first, second, *others = (space.sample for space in spaces)
        self._region = spaces[0].region
        self._second = second
        self._others = intersect(
            self._region.dst, join_ranges((one.src.value, one.src.value) for one in others)
        )
        self._peers = join_ranges((peer, peer) for peer in group.peers)
        self._strangers = group.names - {str(first.netns), str(second.netns)}
        apart = self._region._replace(dst=subtract(self._region.dst, self._others))
        self.parts = (apart,) if apart else ()
        """What is walked of the first source: of the other pods, only the second is a
        destination.
        """

    def share(self, known: _Class) -> Iterator[_Class]:
        """Yield the classes of all sources that one of the first is; none where it is that of the
        first alone.
        """
        answer, group = known.answer, self._group
        row = answer.row
        if known.calculated or not known.met.isdisjoint(group.entries):
            return
        if not known.carried.isdisjoint(group.peers):
            return
        if not group.lines.isdisjoint(answer.lines):
            return
        places = " ".join((row.netns, *answer.ends, row.ask))
        if mentions(answer.words, group.names) or mentions(places, self._strangers):
            return
        second = frozenset({str(self._second.netns)})
        named = mentions(places, second)
        beside = tuple(self._list_beside(known.regions))
        between = tuple(self._list_between(known.regions))
        if beside and not named:
            yield replace(known, regions=beside, witness=_move(known, beside))
        if between:
            if named:
                answer = _name_target(answer, str(self._second.netns))
            witness = known.witness._replace(dst=self._second.src)
            yield replace(known, regions=between, witness=witness, answer=answer)

    def spread(self, regions: Sequence[HeaderRegion]) -> Iterator[HeaderRegion]:
        """Yield the headers of the regions, and for those to the second pod those to the others."""
        yield from self._list_beside(regions)
        yield from self._list_between(regions)

    def _list_beside(self, regions: Sequence[HeaderRegion]) -> Iterator[HeaderRegion]:
        value = self._second.src.value
        gone = join_ranges(((value, value), *self._peers))
        for region in regions:
            dst = subtract(region.dst, gone)
            if dst:
                yield region._replace(dst=dst)

    def _list_between(self, regions: Sequence[HeaderRegion]) -> Iterator[HeaderRegion]:
        value = self._second.src.value
        for region in regions:
            if holds(region.dst, value):
                yield region._replace(dst=join_ranges(((value, value), *self._others)))


def _move(known: _Class, regions: Sequence[HeaderRegion]) -> Probe:
    """Return a witness of a class that is in some of its regions."""
    if any(holds(region.dst, known.witness.dst.value) for region in regions):
        return known.witness
    return known.space.pick(regions[0])


def _name_target(answer: ReachAnswer, second: str) -> ReachAnswer:
    """Say where a packet ends by what it is for, in place of one pod's name."""
    netns, ask = (rename(text, second, TARGET) for text in (answer.row.netns, answer.row.ask))
    ends = tuple(rename(end, second, TARGET) for end in answer.ends)
    return answer._replace(row=answer.row._replace(netns=netns, ask=ask), ends=ends)
