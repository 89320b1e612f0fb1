"""Random headers of enumerated classes, each walked by itself: the class has to say the same of it,
and the classes with what is left have to be all of the space.

    python -m tests.fleet.sampled --nodes 130 --seed 5000 --each 12 [--both-families]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from bench.converse import POD
from podpath.library.case import Case, NodeCase
from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address
from podpath.net.probe import Probe
from podpath.node.case import Case as Facts
from podpath_fleet.header_region import HeaderRegion, Ranges, count_numbers
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace
from podpath_fleet.shared_branches import enumerate_space
from podpath_lab.cases.generate import generate_case
from tests.fleet.served import NEIGHBOR, make_served_case

WALKS = 60
"""Walks that one node is enumerated by."""


@dataclass(slots=True)
class SampledTally:
    """What was compared."""

    nodes: int = 0
    complete: int = 0
    """Nodes whose whole space is in classes."""
    classes: int = 0
    packets: int = 0
    shared: int = 0
    """Classes whose witness was not walked by itself."""
    moved: int = 0
    """Packets whose header is not the walked one's."""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.nodes:,} nodes ({self.complete:,} enumerated to the end), {self.classes:,} "
            f"classes ({self.shared:,} shared), {self.packets:,} packets ({self.moved:,} of them "
            "not the witness), "
            f"{len(self.wrong):,} wrong"
        )


def sample_nodes(
    seeds: Iterator[int] | range, each: int, *, both_families: bool = False
) -> SampledTally:
    """Enumerate the space around the probe of each seed's node, and walk so many headers of each
    class.
    """
    tally = SampledTally()
    for seed in seeds:
        made = generate_case(seed, both_families=both_families)
        case = Case(nodes=(NodeCase(name="", facts=Facts(node=made.node)),))
        space = space_around(made.probe)
        _sample_node(f"{seed}", case, space, tally, each)
    return tally


def sample_served(seeds: Iterable[int], each: int) -> SampledTally:
    """Do the same on nodes with kube-proxy's rules, whose services share walks."""
    tally = SampledTally()
    for seed in seeds:
        case = make_served_case(seed)
        for protocol in (protocols.TCP, protocols.UDP):
            space = space_around(Probe(protocol, POD, NEIGHBOR, 40000, 80, "pod"))
            _sample_node(f"served {seed}", case, space, tally, each)
    return tally


def _sample_node(name: str, case: Case, space: HeaderSpace, tally: SampledTally, each: int) -> None:
    found = enumerate_space(ReachWalker(case), space, WALKS)
    sample_space(case, found, tally, Random(f"{name} sampled"), each)
    tally.nodes += 1
    tally.shared += sum(one.shared for one in found.classes)
    if is_partition(space, found) is False:
        tally.wrong.append(f"node {name}: the classes are not the space")


def space_around(probe: Probe) -> HeaderSpace:
    """Return all destinations and ports of a probe; of one from outside, any client beside it."""
    width = WIDTH[probe.src.family]
    src = probe.src.value
    sources = (src & ~0xFF, src | 0xFF) if probe.in_dev else (src, src)
    ported = probe.protocol in (protocols.TCP, protocols.UDP)
    dports = (1, 65535) if ported else (probe.dport, probe.dport)
    sports = (1, 65535) if ported else (probe.sport, probe.sport)
    region = HeaderRegion((sources,), ((0, (1 << width) - 1),), (dports,), (sports,))
    return HeaderSpace(probe, region)


def is_partition(space: HeaderSpace, found: Enumeration[ReachAnswer]) -> bool:
    """Tell whether classes and what is left are all of a space, and nothing is in two of them."""
    sizes = [region.size for one in found.classes for region in one.regions]
    return sum(sizes) + sum(region.size for region in found.left) == space.region.size


def sample_space(
    case: Case, found: Enumeration[ReachAnswer], tally: SampledTally, chance: Random, each: int
) -> None:
    """Walk headers of each class by themselves."""
    walker = ReachWalker(case, watched=False)
    tally.complete += not found.left
    for one in found.classes:
        tally.classes += 1
        for _ in range(each):
            probe = draw_probe(one.space, chance.choice(one.regions), chance)
            tally.packets += 1
            tally.moved += probe != one.witness
            own = walker.walk_alone(probe)
            if own != one.answer:
                tally.wrong.append(
                    f"{probe} sport {probe.sport} in class of {one.witness}: {own} != {one.answer}"
                )


def draw_probe(space: HeaderSpace, region: HeaderRegion, chance: Random) -> Probe:
    """Draw a header of a region: the ends of ranges as often as what is between them."""
    family = space.sample.src.family
    return space.sample._replace(
        src=Address(family, _draw(region.src, chance)),
        dst=Address(family, _draw(region.dst, chance)),
        dport=_draw(region.dport, chance),
        sport=_draw(region.sport, chance),
    )


def _draw(ranges: Ranges, chance: Random) -> int:
    first, last = chance.choice(ranges)
    if chance.random() < 0.5:
        return chance.choice((first, last))
    if chance.random() < 0.5:
        return chance.randint(first, last)
    place = chance.randrange(count_numbers(ranges))
    for first, last in ranges:
        if place <= last - first:
            return first + place
        place -= last - first + 1
    raise AssertionError("a place within the ranges")


def main() -> int:
    """Sample so many nodes; 1 where a class says anything else than a walk."""
    parser = argparse.ArgumentParser(prog="python -m tests.fleet.sampled")
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=12, help="headers of each class")
    parser.add_argument("--both-families", action="store_true")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.nodes)
    tally = sample_nodes(seeds, given.each, both_families=given.both_families)
    print(tally, *tally.wrong, sep="\n")  # noqa: T201  # a command's answer
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
