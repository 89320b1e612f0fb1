"""TCP of one capture point, against conversations of which it is known what each packet is, and against tshark."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bench.made_capture import make_capture
from podpath.capture.flows import number_flows
from podpath.capture.read import read_capture
from podpath.capture.tcp import Segments, analyse_segments
from tests.capture import frames

START = 0xFFFFFF00
"""Sequence numbers wrap within the tests' conversations."""
RETRANSMITTED = " || ".join(
    f"tcp.analysis.{name}" for name in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
)


class Talk:
    """A conversation, written packet by packet: what each side sends, at which millisecond."""

    def __init__(self) -> None:
        """Begin before the handshake."""
        self.records: list[bytes] = []

    def send(
        self, at: float, seq: int, size: int = 0, *, flags: int = 0x10, back: bool = False, says: tuple[int, int] = (1, 500)
    ) -> Talk:
        """Add a packet; numbers are relative to each side's first, and `says` is what it acknowledges and its window."""
        ack, window = says
        numbers = (START + seq) % 2**32, (START + ack) % 2**32
        ports = (80, 40000) if back else (40000, 80)
        ends = ("10.0.0.2", "10.0.0.1") if back else ("10.0.0.1", "10.0.0.2")
        segment = bytearray(frames.tcp(flags, ports=ports, numbers=numbers, data=bytes(size)))
        struct.pack_into(">H", segment, 14, window)
        frame = frames.ethernet(0x0800, frames.ipv4(6, bytes(segment), ends=ends))
        self.records.append(struct.pack("<4I", frames.START, int(at * 1000), len(frame), len(frame)) + frame)
        return self

    def open(self) -> Talk:
        """Add a handshake."""
        self.send(0, 0, flags=0x02, says=(0, 500)).send(1, 0, flags=0x12, back=True)
        return self.send(2, 1)

    @property
    def data(self) -> bytes:
        """The capture's file."""
        return frames.pcap([]) + b"".join(self.records)

    def analyse(self) -> Segments:
        """Look at it."""
        columns = read_capture(self.data).packets.columns
        return analyse_segments(columns, number_flows(columns))


def where(mask: np.ndarray) -> list[int]:
    """Give the numbers of the packets of a mask."""
    return [int(row) + 1 for row in np.flatnonzero(mask)]


def test_numbers_are_relative_and_do_not_wrap() -> None:
    """Each direction counts from its first packet."""
    found = Talk().open().send(3, 1, 1000).send(4, 1001, 1000).send(5, 1, back=True, says=(2001, 500)).analyse()

    assert [0, 0, 1, 1, 1001, 1] == found.relative.tolist()
    assert [] == where(found.retransmission | found.gap | found.out_of_order | found.duplicate_ack)


def test_retransmission_after_a_loss() -> None:
    """A segment that is missing is a gap; sent again later it is a retransmission, though it was never seen."""
    talk = Talk().open().send(3, 1, 100).send(4, 201, 100)
    for at in (5, 6, 7):
        talk.send(at, 1, back=True, says=(101, 500))
    found = talk.send(250, 101, 100).analyse()

    assert ([5], [9], [7, 8]) == (where(found.gap), where(found.retransmission), where(found.duplicate_ack))
    assert [] == where(found.spurious)


def test_spurious_retransmission() -> None:
    """What was acknowledged already need not have been sent again."""
    found = Talk().open().send(3, 1, 100).send(4, 1, back=True, says=(101, 500)).send(250, 1, 100).analyse()

    assert ([6], [6]) == (where(found.retransmission), where(found.spurious))


def test_segments_that_were_overtaken() -> None:
    """A segment right behind a later one is out of order, and no retransmission."""
    found = Talk().open().send(3, 101, 100).send(3.2, 1, 100).analyse()

    assert ([4], [5], []) == (where(found.gap), where(found.out_of_order), where(found.retransmission))


def test_handshake_that_is_sent_again() -> None:
    """SYN and SYN-ACK that come twice are retransmissions."""
    talk = Talk().send(0, 0, flags=0x02, says=(0, 500)).send(999, 0, flags=0x02, says=(0, 500))
    found = talk.send(999.1, 0, flags=0x12, back=True).send(999.9, 0, flags=0x12, back=True).analyse()

    assert [2, 4] == where(found.retransmission)


def test_zero_window_and_keep_alive() -> None:
    """A closed window is seen; a keep-alive is no retransmission; a reset closes no window."""
    talk = (
        Talk().open().send(3, 1, 100).send(4, 1, back=True, says=(101, 0)).send(500, 100).send(600, 101, flags=0x14, says=(1, 0))
    )
    found = talk.analyse()

    assert ([5], [6], []) == (where(found.zero_window), where(found.keep_alive), where(found.retransmission))


def test_made_capture_has_the_retransmissions_that_were_made() -> None:
    """Each packet that the generator sent twice is found, and no other, in VXLAN too."""
    made = make_capture(10_000, vxlan=0.3, seed=5)
    columns = read_capture(made.data).packets.columns

    assert made.retransmissions == int(analyse_segments(columns, number_flows(columns)).retransmission.sum())


def test_other_protocols_are_left_alone() -> None:
    """Of a capture without TCP nothing is said."""
    udp = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((5, 53), b"x")))
    columns = read_capture(frames.pcap([udp, udp])).packets.columns
    found = analyse_segments(columns, number_flows(columns))

    assert [] == where(found.retransmission | found.gap | found.duplicate_ack | found.zero_window)


def asked(path: Path, expression: str) -> list[int]:
    """Give the packets that tshark finds."""
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), "-Y", expression, "-T", "fields", "-e", "frame.number"],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return [int(line) for line in done.stdout.split()]


@pytest.mark.kernel("tshark")
def test_counts_are_tsharks(tmp_path: Path) -> None:
    """Retransmissions of thousands of packets are those that tshark finds, packet by packet, and so are the spurious ones."""
    path = tmp_path / "made.pcap"
    path.write_bytes(make_capture(12_000, seed=9).data)
    columns = read_capture(path.read_bytes()).packets.columns
    found = analyse_segments(columns, number_flows(columns))

    assert asked(path, RETRANSMITTED) == where(found.retransmission | found.out_of_order)
    assert asked(path, "tcp.analysis.spurious_retransmission") == where(found.spurious)


@pytest.mark.kernel("tshark")
def test_kinds_are_tsharks(tmp_path: Path) -> None:
    """Gaps, duplicate acknowledgements, closed windows and keep-alives are found in the packets where tshark finds them."""
    talk = Talk().open().send(3, 1, 100).send(4, 201, 100)
    for at in (5, 6, 7):
        talk.send(at, 1, back=True, says=(101, 500))
    talk.send(250, 101, 100).send(251, 1, back=True, says=(301, 0)).send(800, 300).send(801, 1, back=True, says=(301, 0))
    path = tmp_path / "talk.pcap"
    path.write_bytes(talk.data)
    found = talk.analyse()

    assert asked(path, "tcp.analysis.lost_segment") == where(found.gap)
    assert asked(path, RETRANSMITTED) == where(found.retransmission | found.out_of_order)
    assert asked(path, "tcp.analysis.keep_alive") == where(found.keep_alive)
    assert set(asked(path, "tcp.analysis.duplicate_ack")) <= set(where(found.duplicate_ack))
    assert asked(path, "tcp.analysis.zero_window") == where(found.zero_window)
