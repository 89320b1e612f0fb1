"""How fast the same packets are found at four capture points: on columns, beside what else groups
the same keys.

A fifth of the connections lies in a tunnel at two of the points, addresses are rewritten on the
way, the hosts' clocks differ, and some packets are lost between the points. Peers get the packets'
keys ready made and only have to group them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.made_capture import make_capture
from bench.measurement import Measurement, emit
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.journeys.losses import find_losses
from podpath_capture.matching.identity import group_equal, make_keys
from podpath_capture.matching.matching import match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import DecodedCapture, read_capture

PACKETS, POINTS, ROUNDS = 1_000_000, 4, 5
UNIT = "M packets/s"
GOAL = 10.0
LOST = 0.0005
"""The share of packets that is lost between two points."""


@dataclass(frozen=True)
class Captures:
    """Four captures of the same packets, and what was lost of them."""

    files: tuple[CapturedFile, ...]
    flows: tuple[Flows, ...]
    lost: int

    @property
    def packets(self) -> int:
        """All packets of all captures."""
        return sum(len(file.capture.packets) for file in self.files)


def make_captures() -> Captures:
    """Take packets past four points on two hosts; each is lost on one of three hops, or on none."""
    draw = np.random.default_rng(7)
    data = make_capture(PACKETS // POINTS).data
    capture = read_capture(data)
    columns = capture.packets.columns
    count = len(columns)
    back = (columns.sport == 80) | (columns.sport == 53)
    hop = np.where(
        draw.random(count) < LOST * (POINTS - 1), draw.integers(0, POINTS - 1, count), POINTS
    )
    hop[: count // 50] = hop[-count // 50 :] = POINTS
    tunnelled = draw.random(1 << 16) < 0.2
    files = []
    for point in range(POINTS):
        kept = (hop == POINTS) | np.where(back, point > hop, point <= hop)
        passed = thin(capture, kept, point, tunnelled)
        view = np.frombuffer(data, np.uint8)
        files.append(
            CapturedFile(
                name=f"point{point}.pcap", capture=passed, data=view, host=f"h{point // 2}"
            )
        )
    flows = tuple(number_flows(file.capture.packets.columns) for file in files)
    return Captures(tuple(files), flows, int((hop < POINTS).sum()))


def thin(
    capture: DecodedCapture, kept: NDArray[np.bool_], point: int, tunnelled: NDArray[np.bool_]
) -> DecodedCapture:
    """Leave out what was lost; rewrite times, the client's address from the third point on, and the
    tunnel at the middle ones.
    """
    columns = capture.packets.columns
    back = (columns.sport == 80) | (columns.sport == 53)
    changed = {
        "time": columns.time
        + np.where(back, -20_000, 20_000) * point
        + (3_000_000_000 if point > 1 else 0)
    }
    if point in {1, 2}:
        changed["vni"] = np.where(
            tunnelled[np.where(back, columns.dport, columns.sport)], np.uint32(7), np.uint32(0)
        )
    if point > 1:
        ours = columns.version == 4
        for name, side in (("src", ~back), ("dst", back)):
            values = getattr(columns, name)
            changed[name] = np.where(ours & side, values ^ np.uint32(0xC0000000), values)
    values = {
        name: changed.get(name, getattr(columns, name))[kept]
        for name in type(columns).__dataclass_fields__
    }
    return replace(capture, packets=replace(capture.packets, columns=type(columns)(**values)))


def median(work: Callable[[], object]) -> float:
    """Return the median CPU time of some work, in seconds: nothing here waits."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return sorted(times)[ROUNDS // 2]


def peers(
    keys: NDArray[np.uint64], points: NDArray[np.int64]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what else groups keys, as far as it is installed."""
    yield "np.unique on ready keys", lambda: np.unique(keys, return_inverse=True)
    try:
        import polars as pl  # type: ignore[import-not-found]  # noqa: PLC0415 - measured where it is installed
    except ImportError:
        print("capture_matching: polars is not installed", file=sys.stderr)
        return
    frame = pl.DataFrame({"key": keys, "point": points})
    yield "polars group_by on ready keys", lambda: frame.group_by("key").agg(pl.col("point"))


def measure() -> Iterator[Measurement]:
    """Measure the first tier alone, the whole matching, and the search for losses."""
    made = make_captures()
    millions = made.packets / 1e6
    columns = [file.capture.packets.columns for file in made.files]

    def tier() -> object:
        return group_equal(np.concatenate([make_keys(each, None) for each in columns]))

    keys = np.concatenate([make_keys(each, None) for each in columns])
    points = np.repeat(np.arange(POINTS), [len(each) for each in columns])
    first = millions / median(tier)
    whole = millions / median(lambda: match_captures(made.files, made.flows))
    losses = find_losses(match_captures(made.files, made.flows))
    found = len(losses.lost) + sum(
        each.packets for each in losses.unseen
    )  # the made connections acknowledge what was taken out
    all_of_it = millions / median(lambda: find_losses(match_captures(made.files, made.flows)))
    for name, work in peers(keys, points):
        other = millions / median(work)
        yield Measurement(
            "four points, same packets",
            first,
            UNIT,
            None,
            more_is_better=True,
            against=name,
            other=other,
        )
    yield Measurement("four points, same packets", first, UNIT, GOAL, more_is_better=True)
    yield Measurement("four points, connections matched", whole, UNIT, GOAL, more_is_better=True)
    yield Measurement("four points, matched and losses found", all_of_it, UNIT, more_is_better=True)
    yield Measurement(
        "packets found missing of those taken out", found / made.lost, "", 1.0, more_is_better=True
    )


if __name__ == "__main__":
    emit(measure())
