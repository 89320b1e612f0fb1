"""Sources that are alike go together, on one node and on two; what regions have in common."""

from __future__ import annotations

from podpath.flows.flow import FlowSet
from podpath.library.progress import silent
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.reach_pairs import enumerate_all, group_alike, meet_regions, pair_classes
from podpath_fleet.reach_space import list_spaces
from tests.fleet.alike import PODS, make_alike_case

ASKED = FlowSet((), ("10.96.0.0/28",), ("tcp",), "80")


def test_a_node_and_itself_have_the_same_classes_for_every_pod() -> None:
    """Each pair is of one set of headers, and together they hold all that was asked about."""
    walkers = [ReachWalker(make_alike_case(2)) for _ in range(2)]
    groups = group_alike(list_spaces(ASKED, walkers[0].case.node), walkers)
    was, now = (
        enumerate_all(walker, groups, number, 200, silent) for number, walker in enumerate(walkers)
    )
    told = 0
    for group, one, other in zip(groups, was, now, strict=True):
        for space, before, after in pair_classes(group, one, other):
            assert [known.answer for known in before.classes] == [
                known.answer for known in after.classes
            ]
            size = sum(region.size for known in before.classes for region in known.regions)
            told += size * (1 + len(space.alike))

    assert sum(len(group.spaces) for group in groups) == PODS
    assert told == PODS * groups[0].spaces[0].region.size


def test_regions_meet() -> None:
    """Only headers that are in both are left."""
    any_port = ((1, 65535),)
    one = HeaderRegion(((1, 9),), ((1, 9),), any_port, any_port)
    other = HeaderRegion(((5, 20),), ((9, 9),), any_port, any_port)
    far = HeaderRegion(((10, 20),), ((9, 9),), any_port, any_port)

    assert [HeaderRegion(((5, 9),), ((9, 9),), any_port, any_port)] == list(
        meet_regions([one], [other, far])
    )
