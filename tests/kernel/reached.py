"""Headers of enumerated classes on the kernel: on each generated node, one that was walked for no
class is sent, or one of each class, and the kernel has to do to it what the class says.

    python -m tests.kernel.reached --cases 300 --seed 1 [--every]
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from podpath.library.case import Case, NodeCase
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.node.case import Case as Facts
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import ReachClass
from podpath_fleet.shared_branches import enumerate_space
from podpath_lab.agree import CaseResult, run_case, spread
from podpath_lab.cases.generate import GeneratedCase, generate_case
from podpath_lab.cases.routing import PORTS
from podpath_lab.drops import DropTracer
from tests.fleet.sampled import draw_probe, space_around

WALKS = 40
"""Walks that one node is enumerated by."""
_DRAWS = 20
"""Headers that are drawn of a node at most, until one can be sent."""
_UNSENT = ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "::/8", "fe80::/10", "ff00::/8")
"""Destinations that a client of the lab does not connect to: its answers go by other ways there."""


@dataclass(frozen=True, slots=True)
class ReachedHeader:
    """One header of a class, on the kernel."""

    result: CaseResult
    probe: Probe
    witness: Probe
    alone: bool
    """True where its own walk says what its class says."""


@dataclass(slots=True)
class ReachedTally:
    """What was compared."""

    headers: int = 0
    moved: int = 0
    """Headers that are not the walked one's."""
    verdicts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in a line."""
        verdicts = ", ".join(f"{name} {count}" for name, count in sorted(self.verdicts.items()))
        return (
            f"{self.headers:,} headers of classes, {self.moved:,} of them not the walked one: "
            f"{verdicts}; {len(self.wrong)} differ"
        )

    def add(self, one: ReachedHeader) -> None:
        """Count one in."""
        result = one.result
        self.headers += 1
        self.moved += one.probe != one.witness
        self.verdicts[result.verdict] = self.verdicts.get(result.verdict, 0) + 1
        if result.differences or not one.alone:
            said = "; ".join(
                f"{each.what}: {each.predicted} | {each.observed}" for each in result.differences
            )
            self.wrong.append(f"seed {result.seed}, {one.probe} of {one.witness}: {said}")


def send_header(case: GeneratedCase, tracer: DropTracer) -> tuple[ReachedHeader, ...]:
    """Draw a header of a class around a case's probe and have the kernel carry it; none where the
    case has none that can be sent.
    """
    chance = Random(f"{case.seed} reached")
    node, found = _enumerate(case)
    for _ in range(_DRAWS if found else 0):
        sent = _send_one(case, node, chance.choice(found), chance, tracer)
        if sent is not None:
            return (sent,)
    return ()


def send_every(case: GeneratedCase, tracer: DropTracer) -> tuple[ReachedHeader, ...]:
    """Have the kernel carry a header of each class around a case's probe, of which one can be
    sent.
    """
    chance = Random(f"{case.seed} reached")
    node, found = _enumerate(case)
    sent = [_send_one(case, node, one, chance, tracer) for one in found]
    return tuple(one for one in sent if one is not None)


def _enumerate(case: GeneratedCase) -> tuple[Case, tuple[ReachClass[ReachAnswer], ...]]:
    """Return the node and its classes; none of a case that sends a crafted frame."""
    node = Case(nodes=(NodeCase(name="", facts=Facts(node=case.node)),))
    if case.frame is not None:
        return node, ()
    space = space_around(case.probe)
    space = space._replace(region=space.region._replace(src=(_single(case.probe.src),)))
    return node, tuple(enumerate_space(ReachWalker(node), space, WALKS).classes)


def _send_one(
    case: GeneratedCase,
    node: Case,
    one: ReachClass[ReachAnswer],
    chance: Random,
    tracer: DropTracer,
) -> ReachedHeader | None:
    """Send a header of a class; None where the one that is drawn cannot be sent."""
    probe = draw_probe(one.space, chance.choice(one.regions), chance)
    if not _can_be_sent(case, probe):
        return None
    alone = ReachWalker(node, watched=False).walk_alone(probe) == one.answer
    result = run_case(replace(case, probe=probe), tracer)
    return ReachedHeader(result, probe, one.witness, alone)


def _can_be_sent(case: GeneratedCase, probe: Probe) -> bool:
    """Tell whether a client of the lab sends it: no server there has its source port, it is not
    sent to itself, and no datagram goes to everybody: a server answers that by its own address.
    """
    if probe.sport in PORTS or (probe.src, probe.sport) == (probe.dst, probe.dport):
        return False
    whole = ipaddress.ip_address(str(probe.dst))
    if any(whole in ipaddress.ip_network(network) for network in _UNSENT):
        return False
    to_many = {
        item.prefix.broadcast
        for netns in case.node.namespaces.values()
        for item in netns.addresses.items
        if item.address.family == 4
    }
    return probe.protocol == protocols.TCP or probe.dst not in to_many


def _single(address: Address) -> tuple[int, int]:
    return address.value, address.value


def send_headers(
    seeds: range,
    jobs: int,
    generate: Callable[[int, str], GeneratedCase] = generate_case,
    *,
    every: bool = False,
) -> ReachedTally:
    """Do so with a node of each seed, with `every` for each class of it."""
    tally = ReachedTally()
    for sent in spread(seeds, jobs, send_every if every else send_header, generate):
        for one in sent:
            tally.add(one)
    return tally


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--every", action="store_true", help="a header of each class")
    asked = parser.parse_args()
    done = send_headers(range(asked.seed, asked.seed + asked.cases), 2, every=asked.every)
    print(done, *done.wrong, sep="\n")  # noqa: T201  # a command's answer
