"""The walk in lanes gives what a walk record by record gives, and nothing else."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from bench.made_capture import make_capture
from podpath_capture.files import walk as walking
from podpath_capture.files.file import as_bytes
from podpath_capture.files.framing import LONGEST, PCAP, PCAPNG, Framing
from podpath_capture.files.walk import walk, walk_carefully
from podpath_capture.reading.read import read_capture
from tests.capture import frames

FRAMING = Framing(PCAP, "<", 16, 8, 16, LONGEST, first_time=frames.START)


def both(
    data: bytes, framing: Framing = FRAMING, start: int = 24
) -> tuple[walking.WalkedRecords, walking.WalkedRecords]:
    """Walk in lanes, and record by record."""
    seen = as_bytes(data)
    return walk(seen, framing, start, len(data)), walk_carefully(seen, framing, start, len(data))


def test_lanes_find_the_same_records() -> None:
    """Over a few megabytes both walks pass the same places and end at the file's end."""
    made = make_capture(6_000)
    lanes, careful = both(made.data)

    assert lanes.places.tolist() == careful.places.tolist()
    assert (len(made.data), ()) == (lanes.next, lanes.damages)
    assert len(lanes.places) == made.packets


def test_lanes_are_not_fooled_by_a_capture_inside_packets() -> None:
    """Packets whose payload is a capture, record by record, are passed as the packets that they
    are.
    """
    inner = frames.pcap([bytes(80)] * 300)[24:]
    data = frames.pcap(
        [frames.ethernet(0x88B5, bytes([number]) * 3 + inner) for number in range(60)]
    )
    lanes, careful = both(data)

    assert len(walking.find_starts(as_bytes(data), FRAMING, 24, len(data), 20)) > 1
    assert (60, careful.places.tolist()) == (len(lanes.places), lanes.places.tolist())


@pytest.mark.parametrize("seed", range(8))
def test_lanes_meet_damage_as_the_careful_walk_does(seed: int) -> None:
    """Records with broken lengths anywhere give the same places and the same damages either way."""
    draw = np.random.default_rng(seed)
    data = bytearray(make_capture(3_000, seed=seed).data)
    places = walk_carefully(as_bytes(bytes(data)), FRAMING, 24, len(data)).places
    for place in draw.choice(places, 4).tolist():
        struct.pack_into("<I", data, place + 8, int(draw.choice([0xFFFFFFFF, 5000, 3, 200_000])))
    lanes, careful = both(bytes(data))

    assert lanes.places.tolist() == careful.places.tolist()
    assert lanes.damages == careful.damages


def test_lanes_over_blocks_of_pcapng() -> None:
    """Blocks are walked in lanes too."""
    data = (
        frames.section()
        + frames.interface()
        + b"".join(frames.packet(bytes(50 + at % 900)) for at in range(2_000))
    )
    lanes, careful = both(data, Framing(PCAPNG, "<", 12, 4, 0, 1 << 24, step=4), 0)

    assert lanes.places.tolist() == careful.places.tolist()
    assert len(lanes.places) == 2_002
    assert len(read_capture(data).packets) == 2_000
