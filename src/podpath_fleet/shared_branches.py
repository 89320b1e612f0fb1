"""Branches of walks that are shared by services of one shape (`service_shapes`).

A branch of a walk to a service enters its tree, has its destination rewritten to an endpoint, and
goes on from there. The endpoint's address is watched like the header's fields, so what the branch
asked of it is known as ranges. A branch of another service with the same shape, whose endpoint and
own address are in these ranges, was asked the same and gave the same answers: it is not walked
again. A conversation is put together from its branches as ever.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from podpath.datapath.conversations.conversation import conclude, walk_branch
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation
from podpath.diagnosis.clearance import WalkedConnection, forbid_all_clear, forbid_failure
from podpath.net.addresses import WIDTH, Address, Family
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.watched import Watched
from podpath.node.netfilter import Rule
from podpath.xtables.nat_ranges import NatRange
from podpath_fleet.flow_classes import FlowHeader, list_offsets
from podpath_fleet.header_region import HeaderRegion, LookedRanges, Ranges, holds, intersect
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace, ReachClass, enumerate_classes
from podpath_fleet.rules_met import MetRule, WalkNote, list_carried, list_places
from podpath_fleet.service_shapes import ShapedService

_TARGET = 24
"""Where the rewritten destination stands among the offsets of a header: it is told apart from the
other fields, and is below addresses, which are asked for first where two are compared.
"""
_Fork = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _KnownBranch:
    """A branch that was walked, and what it asked."""

    service: ShapedService
    """The one that it was walked for."""
    branch: Branch
    made: tuple[Assumption, ...]
    widths: tuple[int, ...]
    endpoint: int | None
    """The number of the constant that the destination was rewritten to; None for none."""
    targets: Ranges
    """Endpoints that would have been told the same."""
    region: HeaderRegion
    """Headers that would have been told the same; destinations beside the service's own."""
    met: frozenset[MetRule]
    carried: frozenset[int]
    """The addresses that its packets had on their way."""
    calculated: bool
    """True where the source's address was used for more than comparisons."""

    def list_carried(self, service: ShapedService) -> frozenset[int]:
        """Return the addresses that the packets of a service have whose branch is the same."""
        if service is self.service:
            return self.carried
        return (self.carried - {*self.service.constants}) | {*service.constants}

    def holds(self, service: ShapedService) -> bool:
        """Tell whether the branch of another service of the shape is the same."""
        if service is self.service:
            return True
        if not holds(self.region.dst, service.address):
            return False
        return self.endpoint is None or holds(self.targets, service.constants[self.endpoint])


@dataclass(slots=True)
class _BranchList:
    """The known branches behind one fork of one shape."""

    plain: list[_KnownBranch] = field(default_factory=list)
    """Those without an endpoint."""
    ranges: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    """By endpoint's number: first and last address, and the branch's place."""
    known: list[_KnownBranch] = field(default_factory=list)

    def find(self, service: ShapedService) -> _KnownBranch | None:
        """Return the branch that is also that of a service."""
        for one in self.plain:
            if one.holds(service):
                return one
        for endpoint, ranges in self.ranges.items():
            place = bisect_right(ranges, (service.constants[endpoint], 1 << 128, 0)) - 1
            found = self.known[ranges[place][2]] if place >= 0 else None
            if found is not None and found.holds(service):
                return found
        return None

    def keep(self, one: _KnownBranch) -> None:
        """Keep a branch for other services."""
        if one.endpoint is None:
            self.plain.append(one)
            return
        ranges = self.ranges.setdefault(one.endpoint, [])
        for first, last in one.targets:
            insort(ranges, (first, last, len(self.known)))
        self.known.append(one)


@dataclass(frozen=True, slots=True)
class _Composed:
    """What came of a conversation, and for whom."""

    answer: ReachAnswer
    neutral: bool
    """True where the answer names nothing of one service alone."""


class SharedBranches:
    """Walks of one source and protocol to services, by what is known of others."""

    def __init__(
        self, walker: ReachWalker, space: HeaderSpace, parts: Sequence[HeaderRegion] | None = None
    ) -> None:
        """Know no branch yet; `parts` are what of the space is asked about, where that is not
        all.
        """
        self._parts = (space.region,) if parts is None else tuple(parts)
        self._walker = walker
        self._case = walker.case
        self._engine = walker.engine
        self._space = space
        self._services = walker.services(space.sample.src.family)
        self._branches: dict[_Fork, _BranchList] = {}
        self._composed: dict[tuple[int, ...], _Composed] = {}
        self.walked = 0
        """Branches that were walked."""

    def list_classes(self, most: int) -> Iterator[ReachClass[ReachAnswer]]:
        """Yield a class for each service that has one, which have nothing in common, until so many
        branches are walked.
        """
        region, sample = self._space.region, self._space.sample
        if len(region.src) != 1 or region.src[0][0] != region.src[0][1] or not region:
            return
        own = region.src[0][0]
        family = sample.src.family
        for service in self._services:
            if self.walked >= most:
                return
            apart = own not in service.constants and service.protocol == sample.protocol
            if not (apart and self._is_asked(service)):
                continue
            probe = self._space.pick(region)._replace(
                dst=Address(family, service.address), dport=service.port
            )
            found = self._walk(service, probe)
            if found is not None:
                yield found

    def _is_asked(self, service: ShapedService) -> bool:
        return any(
            holds(part.dst, service.address) and holds(part.dport, service.port)
            for part in self._parts
        )

    def _walk(self, service: ShapedService, probe: Probe) -> ReachClass[ReachAnswer] | None:
        taken: list[_KnownBranch] = []

        def run(choices: Choices) -> Branch:
            known = self._find(service, probe, choices)
            taken.append(known)
            return known.branch

        try:
            conversation = conclude(probe, explore(run))
        except UsageError:
            return None
        whole = self._narrow(service, taken)
        regions = tuple(common for part in self._parts if (common := part.meet(whole)))
        if not regions:
            return None
        composed = self._compose(conversation, taken)
        if not composed.neutral and any(one.service is not service for one in taken):
            return None
        shared = any(one.service is not service for one in taken)
        met = {service.put(place, one.service) for one in taken for place in one.met}
        carried = {address for one in taken for address in one.list_carried(service)}
        noted = WalkNote(frozenset(met), frozenset(carried))
        self._walker.note(conversation, noted)
        return ReachClass(
            self._space,
            regions,
            probe,
            composed.answer,
            shared=shared,
            met=noted.met,
            carried=noted.carried,
            calculated=any(one.calculated for one in taken),
        )

    def _narrow(self, service: ShapedService, taken: list[_KnownBranch]) -> HeaderRegion:
        region = self._space.region._replace(dst=((service.address, service.address),))
        for one in taken:
            region = HeaderRegion(
                region.src,
                region.dst,
                _both(region.dport, one.region.dport),
                _both(region.sport, one.region.sport),
            )
        return region

    def _compose(self, conversation: Conversation, taken: list[_KnownBranch]) -> _Composed:
        key = (*map(id, taken), conversation.truncated, conversation.pruned)
        found = self._composed.get(key)
        if found is None:
            answer = self._walker.summarize(conversation)
            family = self._space.sample.src.family
            neutral = not any(_names(answer, one.service, family) for one in taken)
            found = self._composed[key] = _Composed(answer, neutral)
        return found

    def _find(self, service: ShapedService, probe: Probe, choices: Choices) -> _KnownBranch:
        fork = (service.shape, service.port, choices.planned)
        branches = self._branches.setdefault(fork, _BranchList())
        known = branches.find(service)
        if known is not None:
            choices.repeat(known.made, known.widths)
            return known
        known, shared = self._walk_branch(service, probe, choices)
        if shared:
            branches.keep(known)
        return known

    def _walk_branch(
        self, service: ShapedService, probe: Probe, choices: Choices
    ) -> tuple[_KnownBranch, bool]:
        """Walk a branch; tell as well whether others may share it."""
        self.walked += 1
        family = probe.src.family
        offsets = list_offsets(family)
        looked = LookedRanges({**offsets, "target": _TARGET})
        rewritten: list[int] = []

        def watch(netns: str, rule: Rule, allowed: NatRange) -> NatRange:
            place = (netns, rule.table, rule.chain)
            if not service.has(*place) or allowed.low is None or allowed.low != allowed.high:
                return allowed  # a rule outside the tree rewrites every service's packets alike
            if allowed.low not in service.constants or rewritten not in ([], [allowed.low]):
                rewritten.append(-1)
                return allowed
            rewritten.append(allowed.low)
            low: Any = Watched(allowed.low, WIDTH[family], _TARGET, looked)
            return allowed._replace(low=low, high=low)

        header = FlowHeader(probe, looked)
        self._engine.watch_target = watch
        try:
            branch = walk_branch(self._engine, header.probe, choices)
        finally:
            self._engine.watch_target = None
        single = conclude(header.probe, explore(lambda _: branch))
        # What these look at has to be asked of others too.
        forbid_all_clear(self._case.facts, (WalkedConnection(header.probe, single),))
        forbid_failure(single)
        if self._walker.judge is not None:
            self._walker.judge(self._case, single)
        return self._know(service, choices, branch, looked, rewritten)

    def _know(
        self,
        service: ShapedService,
        choices: Choices,
        branch: Branch,
        looked: LookedRanges,
        rewritten: list[int],
    ) -> tuple[_KnownBranch, bool]:
        space = self._space
        offsets = list_offsets(space.sample.src.family)
        whole: Ranges = ((0, (1 << WIDTH[space.sample.src.family]) - 1),)
        if rewritten and rewritten[0] >= 0:
            endpoint = service.constants.index(rewritten[0])
        else:
            endpoint = None
        known = _KnownBranch(
            service=service,
            branch=branch,
            made=tuple(choices.made),
            widths=tuple(choices.widths),
            endpoint=endpoint,
            targets=looked.narrow_field(_TARGET, whole),
            met=list_places((branch,)),
            carried=list_carried((branch,)),
            calculated=looked.is_calculated(offsets["src"]),
            region=HeaderRegion(
                space.region.src,
                looked.narrow_field(offsets["dst"], whole, service.address),
                looked.narrow_field(offsets["dport"], space.region.dport),
                looked.narrow_field(offsets["sport"], space.region.sport),
            ),
        )
        return known, -1 not in rewritten and not looked.is_told(offsets["dst"])


def enumerate_space(
    walker: ReachWalker,
    space: HeaderSpace,
    most: int,
    parts: Sequence[HeaderRegion] | None = None,
) -> Enumeration[ReachAnswer]:
    """Return the classes of a space, or of some parts of it: those of services that share branches,
    then the others, by at most so many walks.
    """
    shared = SharedBranches(walker, space, parts)
    known = tuple(shared.list_classes(most))
    most = max(0, most - shared.walked)
    return enumerate_classes(space, walker.walk, most, known, parts=parts, note=lambda: walker.last)


def _both(one: Ranges, two: Ranges) -> Ranges:
    if one is two or one == two:
        return one
    return intersect(one, two)


def _names(answer: ReachAnswer, service: ShapedService, family: Family) -> bool:
    """Tell whether an answer has a word of one service alone in it."""
    row = answer.row
    said = " ".join((answer.words, row.ask, row.netns, *answer.ends))
    own = (str(Address(family, number)) for number in service.constants)
    return any(word in said for word in (*service.chains, *own))
