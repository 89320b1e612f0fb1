"""Instances of connections to connections: by sequence numbers, else by the packets that they
share, else by equal ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.sightings import FiveTuple
from podpath.net.protocols import ACK, RST, TCP
from podpath_capture.arrays.segments import begins, order_by
from podpath_capture.matching.connection_identity import NONE, Instances, Numbers
from podpath_capture.matching.joined import Joined

TOGETHER = 50_000_000
"""Nanoseconds within which a device shows the same SYN before and after NAT; SYNs further apart are
two connections.
"""


@dataclass(frozen=True, slots=True)
class Linked:
    """Which connection each instance is of. Local to the matching."""

    connection: Numbers
    """For each instance its connection, numbered in the order of the captures."""
    flipped: NDArray[np.bool_]
    """For each instance whether its client is the connection's server: who spoke first where
    capturing began.
    """
    count: int


def link_instances(joined: Joined, instances: Instances) -> Linked:
    """Put together what is one connection."""
    links = _Links(len(instances))
    known = np.flatnonzero((instances.client_isn != NONE) & (instances.device != NONE))
    for group in _by_sequence_numbers(joined, instances, known, links):
        links.join_all(group)
    open_ended = instances.client_isn == NONE
    if open_ended.any():
        _vote(joined, instances, open_ended, links)
        _join_equal_ends(joined, instances, open_ended, links)
    return links.number(instances)


class _Links:
    """Sets of instances that are one connection, and in which of them the ways are the other way
    round.
    """

    def __init__(self, count: int) -> None:
        self.parent = np.arange(count)
        self.turned = np.zeros(count, np.bool_)
        """Whether the ways are the other way round than the parent's."""

    def join_all(self, group: Sequence[int]) -> None:
        """Take instances as one that know their client."""
        for each in group[1:]:
            self.join(each, group[0], turned=False)

    def find(self, instance: int) -> tuple[int, bool]:
        """Return an instance's set, and whether its ways are the other way round there."""
        turned, way = False, []
        while self.parent[instance] != instance:
            way.append(instance)
            turned ^= bool(self.turned[instance])
            instance = int(self.parent[instance])
        left = turned
        for each in way:
            left, self.turned[each] = left ^ bool(self.turned[each]), left
            self.parent[each] = instance
        return instance, turned

    def join(self, one: int, other: int, *, turned: bool) -> None:
        """Take two instances as one connection."""
        (first, first_turned), (second, second_turned) = self.find(one), self.find(other)
        if first != second:
            low, high = min(first, second), max(first, second)
            self.parent[high] = low
            self.turned[high] = first_turned ^ second_turned ^ turned

    def number(self, instances: Instances) -> Linked:
        """Return the sets numbers, and turn each so that its client is who opened it, or else who
        spoke first.
        """
        count = len(self.parent)
        for each in np.flatnonzero(self.parent[self.parent] != self.parent).tolist():
            self.find(each)
        root, turned = self.parent.copy(), self.turned.copy()
        knows = np.flatnonzero(instances.told)[::-1]
        wrong = np.zeros(count, np.bool_)
        wrong[root[knows]] = turned[knows]
        used = instances.device != NONE
        first = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(first, root[used], instances.first[used])
        roots = np.flatnonzero(used & (root == np.arange(count)))
        roots = roots[np.argsort(first[roots], kind="stable")]
        number = np.full(count, NONE, np.int64)
        number[roots] = np.arange(len(roots))
        return Linked(np.where(used, number[root], NONE), turned ^ wrong[root], len(roots))


def _by_sequence_numbers(
    joined: Joined, instances: Instances, known: Numbers, links: _Links
) -> Iterator[list[int]]:
    """Join instances whose handshakes have the same numbers; give the groups in which these do not
    decide, parted.
    """
    if not len(known):
        return
    order = known[order_by(instances.client_isn[known])]
    isn, server, device = (
        instances.client_isn[order],
        instances.server_isn[order],
        instances.device[order],
    )
    group = np.cumsum(begins(isn)) - 1
    low, high = np.full(group[-1] + 1, np.iinfo(np.int64).max), np.full(group[-1] + 1, NONE)
    answered = server != NONE
    np.minimum.at(low, group[answered], server[answered])
    np.maximum.at(high, group[answered], server[answered])
    unclear = (high != NONE) & (low != high)
    twice = np.sort(group * (int(device.max()) + 1) + device)
    unclear[twice[1:][twice[1:] == twice[:-1]] // (int(device.max()) + 1)] = True
    clear = ~unclear[group]
    lowest = np.full(len(low), np.iinfo(np.int64).max)
    np.minimum.at(lowest, group, order)
    links.parent[order[clear]] = lowest[group[clear]]
    if not unclear.any():
        return
    rows = _InstanceRows(instances)
    bounds = np.searchsorted(group, np.arange(len(unclear) + 1))
    for each in np.flatnonzero(unclear).tolist():
        yield from _part(joined, rows, order[bounds[each] : bounds[each + 1]].tolist())


class _InstanceRows:
    """The packets of each instance. Local to those whose numbers do not decide."""

    def __init__(self, instances: Instances) -> None:
        """Put all packets in the order of their instances."""
        self.instances = instances
        numbers = instances.number + np.int32(1)
        self._order = order_by(numbers)
        self._starts = np.cumsum(np.bincount(numbers, minlength=len(instances) + 1))

    def of(self, instance: int) -> Numbers:
        """Return the packets of an instance."""
        return self._order[self._starts[instance] : self._starts[instance + 1]]


def _part(joined: Joined, rows: _InstanceRows, group: list[int]) -> list[list[int]]:
    """Part instances with one initial number: those of a device that begin together are one, before
    and after NAT.
    """
    instances = rows.instances
    times = joined.column("time")[instances.first[group]].tolist()
    starts = dict(zip(group, times, strict=True))
    clusters: dict[int, list[list[int]]] = {}
    for each in sorted(
        group, key=lambda instance: (int(instances.device[instance]), starts[instance])
    ):
        mine = clusters.setdefault(int(instances.device[each]), [])
        fits = (
            mine
            and _agree(instances, mine[-1], [each])
            and (
                starts[each] - starts[mine[-1][0]] < TOGETHER
                or _complete(joined, rows, mine[-1], each)
            )
        )
        ends = _ends(joined, instances, each)
        if fits and all(ends != _ends(joined, instances, other) for other in mine[-1]):
            mine[-1].append(each)
        else:
            mine.append([each])
    base = max(clusters.values(), key=len)
    parts = [list(cluster) for cluster in base]
    for mine in clusters.values():
        if mine is not base:
            parts += _assign(joined, rows, mine, base, parts)
    return parts


def _complete(joined: Joined, rows: _InstanceRows, some: list[int], other: int) -> bool:
    """Tell whether some instances have the client's packets alone and another one the server's: a
    bridge under br_netfilter shows them under different ends, and the answer may come late, to a
    SYN that was sent again.
    """
    sides = [_sides(joined, rows, each) for each in (*some, other)]
    return sides[-1] == {False} and all(side == {True} for side in sides[:-1])


def _sides(joined: Joined, rows: _InstanceRows, instance: int) -> set[bool]:
    """Return who sends the packets of an instance: the client (True), the server, or both."""
    mine = joined.forward[rows.of(instance)] == rows.instances.client_forward[instance]
    return set(mine.tolist())


def _ends(joined: Joined, instances: Instances, instance: int) -> tuple[object, ...]:
    """Return the ends of an instance's first packet, without its protocol."""
    return joined.ends(int(instances.first[instance]))[1:]


def _assign(
    joined: Joined,
    rows: _InstanceRows,
    mine: list[list[int]],
    base: list[list[int]],
    parts: list[list[int]],
) -> list[list[int]]:
    """Add a device's clusters to the parts that they fit best, one each; give those that fit
    none.
    """
    marks = _marks(joined, rows, [each for cluster in (*mine, *base) for each in cluster])
    scores: list[tuple[int, int, int, int, int]] = []
    for at, cluster in enumerate(mine):
        for place, other in enumerate(base):
            if _agree(rows.instances, cluster, other):
                most, next_most = _common(marks, cluster, other)
                scores.append((-most, -next_most, abs(at - place), at, place))
    taken: dict[int, int] = {}
    for *_, at, place in sorted(scores):
        if at not in taken and place not in taken.values():
            taken[at] = place
            parts[place].extend(mine[at])
    return [cluster for at, cluster in enumerate(mine) if at not in taken]


_Marks = dict[int, tuple[set[int], set[tuple[object, ...]]]]
"""For each instance the keys of its packets, and its ends."""


def _marks(joined: Joined, rows: _InstanceRows, group: list[int]) -> _Marks:
    marks: _Marks = {}
    for each in group:
        ends = joined.ends(int(rows.instances.first[each]))
        marks[each] = (
            set(joined.keys[rows.of(each)].tolist()),
            {(ends.src, ends.sport), (ends.dst, ends.dport)},
        )
    return marks


def _common(marks: _Marks, some: list[int], others: list[int]) -> tuple[int, int]:
    """Say how many packets and ends two clusters have in common."""
    (mine, my_ends), (its, its_ends) = (_merge_marks(marks, cluster) for cluster in (some, others))
    return len(mine & its), len(my_ends & its_ends)


def _merge_marks(marks: _Marks, cluster: list[int]) -> tuple[set[int], set[tuple[object, ...]]]:
    """Return the keys and the ends of all instances of a cluster."""
    keys, ends = zip(*(marks[each] for each in cluster), strict=True)
    return set().union(*keys), set().union(*ends)


def _agree(instances: Instances, some: list[int], others: list[int]) -> bool:
    """Tell whether clusters may be one connection by the server's numbers, as far as they are
    known.
    """
    known = {int(instances.server_isn[each]) for each in (*some, *others)} - {NONE}
    return len(known) <= 1


class _Shared(NamedTuple):
    """Packets of different instances with the same key."""

    rows: Numbers
    first: Numbers
    """For each of them the first packet with its key."""

    def keep(self, mask: NDArray[np.bool_]) -> _Shared:
        """Keep some."""
        return _Shared(self.rows[mask], self.first[mask])


def _vote(
    joined: Joined, instances: Instances, open_ended: NDArray[np.bool_], links: _Links
) -> None:
    """Join instances without a handshake to those with which they have most packets in common."""
    number = instances.number
    shared = _find_shared(joined, instances, open_ended)
    mine, its = number[shared.rows], number[shared.first]
    if not len(mine):
        return
    with_turn = joined.forward[shared.rows] == instances.client_forward[mine]
    its_turn = joined.forward[shared.first] == instances.client_forward[its]
    pairs, place = np.unique(mine.astype(np.int64) << 32 | its, return_inverse=True)
    votes = np.bincount(place, minlength=len(pairs))
    straight = np.bincount(place, weights=with_turn == its_turn, minlength=len(pairs))
    one, other, devices = pairs >> 32, pairs & 0xFFFFFFFF, instances.device
    count = int(devices.max()) + 1
    ends, place = np.unique(
        np.concatenate((one * count + devices[other], other * count + devices[one])),
        return_inverse=True,
    )
    best = np.zeros(len(ends), np.int64)  # for an instance and a device
    np.maximum.at(best, place, np.concatenate((votes, votes)))
    wanted = 2 * votes >= np.maximum(*best[place].reshape(2, -1))
    order = np.argsort(-votes, kind="stable")
    order = order[wanted[order]]
    turned = (2 * straight < votes)[order].tolist()
    for first, second, around in zip(
        one[order].tolist(), other[order].tolist(), turned, strict=True
    ):
        links.join(first, second, turned=around)


def _find_shared(joined: Joined, instances: Instances, open_ended: NDArray[np.bool_]) -> _Shared:
    """Find the packets by which instances without a handshake are joined to others; of TCP only
    where it has such instances.
    """
    number, protocol = instances.number, joined.column("protocol")
    opened = instances.first[open_ended & (instances.device != NONE)]
    if (protocol[opened] == TCP).any():
        every = _Shared(np.arange(len(joined)), joined.same.astype(np.int64))
    else:
        rows = np.flatnonzero((protocol != TCP) & (number >= 0))
        every = _Shared(rows, rows[joined.group(rows)])
    hot = np.append(open_ended, np.False_)  # the last is that of packets of no instance
    some = every.keep(hot.take(number.take(every.rows)) | hot.take(number.take(every.first)))
    mine, its = number[some.rows], number[some.first]
    some = some.keep((mine >= 0) & (its >= 0) & (mine != its))
    return some.keep(~_shared_by_chance(joined, instances, every, some))


def _shared_by_chance(
    joined: Joined, instances: Instances, every: _Shared, some: _Shared
) -> NDArray[np.bool_]:
    """Tell which packets say so little that more than one flow of a device has their like: they
    prove nothing.
    """
    flags, tcp = joined.column("flags")[some.rows], joined.column("protocol")[some.rows] == TCP
    weak = (joined.column("ident")[some.rows] == 0) & ~(
        tcp & (flags & ACK != 0) & (flags & RST == 0)
    )
    wanted = np.zeros(len(joined), np.bool_)
    wanted[some.first[weak]] = True
    alike = every.keep(wanted[every.first] & (instances.number[every.rows] >= 0))
    triples = np.stack(
        (alike.first, joined.device[joined.point[alike.rows]], instances.number[alike.rows])
    )
    found = np.unique(triples, axis=1)
    twice = (found[0][1:] == found[0][:-1]) & (found[1][1:] == found[1][:-1])
    wanted[:] = False
    wanted[found[0][1:][twice]] = True
    chance: NDArray[np.bool_] = wanted[some.first]
    return chance


def _join_equal_ends(
    joined: Joined, instances: Instances, open_ended: NDArray[np.bool_], links: _Links
) -> None:
    """Join what shares no packet with anything to a connection that has the same ends at another
    device.
    """
    every = np.arange(len(instances))
    joined_to = np.zeros(len(instances), np.bool_)
    joined_to[links.parent[links.parent != every]] = True
    used = instances.device != NONE
    lonely = np.flatnonzero(open_ended & used & (links.parent == every) & ~joined_to)
    if not len(lonely):
        return
    sport, dport = (
        joined.column(name)[instances.first * used].astype(np.int64) for name in ("sport", "dport")
    )
    ports = np.minimum(sport, dport) << 16 | np.maximum(sport, dport)
    by_ends: dict[FiveTuple, list[int]] = {}
    for each in np.flatnonzero(used & np.isin(ports, ports[lonely])).tolist():
        by_ends.setdefault(joined.ends(int(instances.first[each])), []).append(each)
    for each in lonely.tolist():
        ends = joined.ends(int(instances.first[each]))
        back = ends._replace(src=ends.dst, sport=ends.dport, dst=ends.src, dport=ends.sport)
        for turned, others in ((False, by_ends.get(ends, [])), (True, by_ends.get(back, []))):
            for other in others:
                if instances.device[other] != instances.device[each]:
                    turn = turned ^ bool(
                        instances.client_forward[each] != instances.client_forward[other]
                    )
                    links.join(each, other, turned=turn)
                    break
