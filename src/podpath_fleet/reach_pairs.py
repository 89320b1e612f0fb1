"""The classes of all that is asked about, on one node or on two: sources that are alike on each of
them go together, and what is common to them is compared once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.library.progress import Progress, stage
from podpath.net.addresses import Family
from podpath.net.counted import Counted
from podpath_fleet.alike_pods import AlikePods
from podpath_fleet.alike_sources import AlikeFound, AlikeSpaces, enumerate_alike, group_spaces
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace, take_out

ClassPair = tuple[HeaderSpace, Enumeration[ReachAnswer], Enumeration[ReachAnswer]]
"""A set of headers with its classes on either node."""


def group_alike(spaces: Sequence[HeaderSpace], walkers: Sequence[ReachWalker]) -> list[AlikeSpaces]:
    """Put the spaces together whose sources are alike on the node of every walker."""
    sources = {(space.sample.netns, space.sample.src) for space in spaces}
    families = {address.family for _, address in sources} if len(sources) > 1 else set()
    return group_spaces(spaces, [_list_alike(walker, families) for walker in walkers])


def _list_alike(walker: ReachWalker, families: set[Family]) -> tuple[AlikePods, ...]:
    return tuple(group for family in sorted(families) for group in walker.alike_pods(family))


def enumerate_all(
    walker: ReachWalker,
    asked: Sequence[AlikeSpaces],
    number: int,
    walks: int,
    progress: Progress,
) -> list[AlikeFound]:
    """Return the classes of all that is asked about, on the node of that number."""
    found = []
    with stage(progress, "walking a flow of each class") as tell:
        for place, alike in enumerate(asked):
            found.append(enumerate_alike(walker, alike, number, walks))
            tell(Counted(place + 1, len(asked)))
    return found


def pair_classes(asked: AlikeSpaces, was: AlikeFound, now: AlikeFound) -> Iterator[ClassPair]:
    """Yield the classes on both nodes: what is common to all sources on both once, and the rest for
    each of them.
    """
    first = asked.spaces[0]
    common: tuple[HeaderRegion, ...] = ()
    if was.common is not None and now.common is not None:
        told, classes = was.common
        yield told, classes, now.common[1]
        common = tuple(meet_regions(was.list_common(), now.list_common()))
    rest = take_out(first.region, common)
    for space in asked.spaces if rest else ():
        yield space, was.expand(first, space, rest), now.expand(first, space, rest)


def meet_regions(
    one: Sequence[HeaderRegion], two: Sequence[HeaderRegion]
) -> Iterator[HeaderRegion]:
    """Yield what regions have in common with others."""
    for region in one:
        for other in two:
            common = region.meet(other)
            if common:
                yield common
