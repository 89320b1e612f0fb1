"""Captures too long to be made at once: one made capture written again and again, later each time,
and between other ends.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.made_capture import ETHERNET, FILE, IP4, IP6, RECORD, make_capture
from podpath_capture.files.file import index_packets
from podpath_capture.files.index import Contents

PIECE = 1_000_000
"""Packets that are made; the rest repeats them."""
LASTING = 60
"""Seconds from one piece's first packet to the next one's: longer than a piece lasts, so that none
overtakes another.
"""


def write_capture(path: Path, packets: int, *, seed: int = 1) -> int:
    """Write a pcap file of so many packets or a few more, and give their number."""
    made = make_capture(min(packets, PIECE), seed=seed)
    data = np.frombuffer(made.data, np.uint8).copy()
    offsets = np.concatenate([index.offset for index in index_packets(data, Contents())])
    six = data[offsets + 12] == 0x86
    ends = [
        offsets + ETHERNET + np.where(six, IP6 - 3 - back, IP4 - 3 - back // 4) for back in (0, 16)
    ]
    seconds = np.ndarray((len(data) - 3,), "<u4", data.data, 0, (1,))
    pieces = -(-packets // made.packets)
    with path.open("wb") as file:
        file.write(data[:FILE].data)
        for _ in range(pieces):
            file.write(data[FILE:].data)
            for octet in ends:  # the second one of each address
                data[octet] += 1
            seconds[offsets - RECORD] += LASTING
    return pieces * made.packets
