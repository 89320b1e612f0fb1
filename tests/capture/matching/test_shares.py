"""Captures in shares show what they show at once, wherever connections let them be parted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.columns import CUT, PacketColumns
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.journeys.losses import find_losses
from podpath_capture.matching import shares
from podpath_capture.matching.matching import match_captures
from podpath_capture.matching.shares import LongFile, Shares, connect
from podpath_capture.points import CapturedFile, number_points
from podpath_capture.reading.narrow import Narrow
from tests.capture.planted import Truth, World
from tests.capture.planted_talk import populate
from tests.capture.stores import Memory


def lengthen(file: CapturedFile) -> LongFile:
    """Keep of a capture what is kept of long ones, and show none of its packets."""
    narrow = Narrow(Memory())
    narrow.add(file.capture.packets)
    columns = narrow.columns
    return LongFile(file, columns, narrow.addresses, number_flows(columns))


def part(files: Sequence[CapturedFile], *, surveyed: bool) -> Shares:
    """Part captures, as they are held or as they are surveyed."""
    made = []
    for file in files:
        packets = file.capture.packets
        held = LongFile(file, packets.columns, packets.addresses, number_flows(packets.columns))
        made.append(lengthen(file) if surveyed else held)
    return Shares(made, Memory())


def find_by_share(found: Shares) -> list[Truth]:
    """Spell what is lost as the world does, of one share after the other."""
    told = []
    for number in range(len(found)):
        matching = match_captures(found.take(number))
        told += [
            Truth(
                loss.last_seen.file,
                loss.last_seen.number,
                matching.points[loss.missing_at].file,
                loss.end - loss.begin,
            )
            for loss in find_losses(matching).lost
        ]
    return sorted(told)


@pytest.mark.parametrize("seed", [*range(12), 200, 201, 202])
def test_shares_lose_what_the_world_loses(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Whatever is done to packets on their way, each share has its connections whole: the planted
    losses are found on their hops, and no others; but for those of which only connections of other
    shares tell the way.
    """
    monkeypatch.setattr(shares, "SHARE", 60)
    world = populate(World(seed, six=seed >= 200))
    found = part(world.files(), surveyed=bool(seed % 2))
    told, planted = (
        Counter(one._replace(number=0) for one in some)
        for some in (find_by_share(found), world.truth())
    )

    assert len(found) > 2
    assert 0 == found.left_out
    assert told <= planted
    assert planted.total() - told.total() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_one_share_is_the_whole(seed: int) -> None:
    """Where all packets fit, the share has those of all connections, under their numbers."""
    world = populate(World(seed))
    files = world.files()
    found = part(files, surveyed=True)
    (taken,) = (found.take(number) for number in range(len(found)))
    whole, shared = match_captures(files), match_captures(taken)

    assert len(whole) == len(shared)
    assert find_losses(whole) == find_losses(shared)


def test_what_cannot_be_parted_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection with too many packets is counted, and in no share; all others are in one."""
    files = populate(World(1)).files()
    sizes = [int(np.bincount(flows.number[flows.number >= 0]).max()) for flows in _number(files)]
    monkeypatch.setattr(shares, "MOST", max(sizes))
    found = part(files, surveyed=False)
    taken = sum(len(file.capture.packets) for file in found.take(0))
    inside = sum(int((flows.number >= 0).sum()) for flows in _number(files))

    assert found.left_out > max(sizes)
    assert inside - found.left_out == taken


def _number(files: Sequence[CapturedFile]) -> list[Flows]:
    return [number_flows(file.capture.packets.columns) for file in files]


def test_cut_packets_count_in_every_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a point may have missed is known of the whole capture, not of a share."""
    monkeypatch.setattr(shares, "SHARE", 60)
    (file, *_) = files = populate(World(2)).files()
    columns: PacketColumns = file.capture.packets.columns
    columns.broken[:3] = CUT
    found = part(files, surveyed=False)
    taken = [one for number in range(len(found)) for one in found.take(number)]

    assert {3} == {
        point.cut for one in taken if one.name == file.name for point in number_points([one]).points
    }


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_things_hang_together_by_pairs(pairs: list[tuple[int, int]]) -> None:
    """Each has the first of those that it hangs together with, over any number of steps."""
    expected = list(range(10))
    for _ in range(10):
        for one, other in pairs:
            expected[one] = expected[other] = min(expected[one], expected[other])
    made = np.array(pairs, np.int64).reshape(-1, 2).T

    assert expected == connect(10, made).tolist()
    assert expected == connect(10, made[:, ::2], connect(10, made[:, 1::2])).tolist()
