"""TCP of one capture point, against conversations of which it is known what each packet is, and
against tshark.
"""

from __future__ import annotations

import struct
import subprocess
from collections import defaultdict
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.made_capture import make_capture
from podpath_capture.columns import PacketColumns, empty_arrays
from podpath_capture.flows import tcp
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import SegmentAnalysis, analyse_segments
from podpath_capture.reading.read import read_capture
from tests.capture import frames

START = 0xFFFFFF00
"""Sequence numbers wrap within the tests' conversations."""
RETRANSMITTED = " || ".join(
    f"tcp.analysis.{name}"
    for name in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
)


class Talk:
    """A conversation, written packet by packet: what each side sends, at which millisecond."""

    def __init__(self) -> None:
        """Begin before the handshake."""
        self.records: list[bytes] = []

    def send(
        self,
        at: float,
        seq: int,
        size: int = 0,
        *,
        flags: int = 0x10,
        back: bool = False,
        says: tuple[int, int] = (1, 500),
    ) -> Talk:
        """Add a packet; numbers are relative to each side's first, and `says` is what it
        acknowledges and its window.
        """
        ack, window = says
        numbers = (START + seq) % 2**32, (START + ack) % 2**32
        ports = (80, 40000) if back else (40000, 80)
        ends = ("10.0.0.2", "10.0.0.1") if back else ("10.0.0.1", "10.0.0.2")
        segment = bytearray(frames.tcp(flags, ports=ports, numbers=numbers, data=bytes(size)))
        struct.pack_into(">H", segment, 14, window)
        frame = frames.ethernet(0x0800, frames.ipv4(6, bytes(segment), ends=ends))
        self.records.append(
            struct.pack("<4I", frames.START, int(at * 1000), len(frame), len(frame)) + frame
        )
        return self

    def open(self) -> Talk:
        """Add a handshake."""
        self.send(0, 0, flags=0x02, says=(0, 500)).send(1, 0, flags=0x12, back=True)
        return self.send(2, 1)

    @property
    def data(self) -> bytes:
        """The capture's file."""
        return frames.pcap([]) + b"".join(self.records)

    def analyse(self) -> SegmentAnalysis:
        """Look at it."""
        columns = read_capture(self.data).packets.columns
        return analyse_segments(columns, number_flows(columns))


def where(mask: np.ndarray) -> list[int]:
    """Return the numbers of the packets of a mask."""
    return [int(row) + 1 for row in np.flatnonzero(mask)]


def test_numbers_are_relative_and_do_not_wrap() -> None:
    """Each direction counts from its first packet."""
    found = (
        Talk()
        .open()
        .send(3, 1, 1000)
        .send(4, 1001, 1000)
        .send(5, 1, back=True, says=(2001, 500))
        .analyse()
    )

    assert [0, 0, 1, 1, 1001, 1] == found.relative.tolist()
    assert [] == where(found.retransmission | found.gap | found.out_of_order | found.duplicate_ack)


def test_retransmission_after_a_loss() -> None:
    """A segment that is missing is a gap; sent again later it is a retransmission, though it was
    never seen.
    """
    talk = Talk().open().send(3, 1, 100).send(4, 201, 100)
    for at in (5, 6, 7):
        talk.send(at, 1, back=True, says=(101, 500))
    found = talk.send(250, 101, 100).analyse()

    assert ([5], [9], [7, 8]) == (
        where(found.gap),
        where(found.retransmission),
        where(found.duplicate_ack),
    )
    assert [] == where(found.spurious)


def test_spurious_retransmission() -> None:
    """What was acknowledged already need not have been sent again."""
    found = (
        Talk()
        .open()
        .send(3, 1, 100)
        .send(4, 1, back=True, says=(101, 500))
        .send(250, 1, 100)
        .analyse()
    )

    assert ([6], [6]) == (where(found.retransmission), where(found.spurious))


def test_segments_that_were_overtaken() -> None:
    """A segment right behind a later one is out of order, and no retransmission."""
    found = Talk().open().send(3, 101, 100).send(3.2, 1, 100).analyse()

    assert ([4], [5], []) == (
        where(found.gap),
        where(found.out_of_order),
        where(found.retransmission),
    )


def test_segment_that_is_repeated_within_a_round_trip() -> None:
    """It is sent again, since it was shown before, and out of order, as Wireshark has it."""
    found = Talk().open().send(3, 1, 100).send(3.1, 101, 100).send(3.2, 1, 100).analyse()

    assert ([6], [6]) == (where(found.out_of_order), where(found.retransmission))


def test_last_segment_is_sent_again_however_soon() -> None:
    """What ends where the sender is known to be is its last segment again, never out of order."""
    found = Talk().open().send(3, 101).send(3.2, 1, 100).analyse()

    assert ([], [5]) == (where(found.out_of_order), where(found.retransmission))


def test_where_the_clock_goes_back_nothing_is_out_of_order() -> None:
    """A capture behind another in one file repeats what that one showed."""
    found = Talk().open().send(30, 1, 100).send(31, 101, 100).send(3, 1, 100).analyse()

    assert ([], [6]) == (where(found.out_of_order), where(found.retransmission))


def test_handshake_that_is_sent_again() -> None:
    """SYN and SYN-ACK that come twice are retransmissions."""
    talk = Talk().send(0, 0, flags=0x02, says=(0, 500)).send(999, 0, flags=0x02, says=(0, 500))
    found = (
        talk.send(999.1, 0, flags=0x12, back=True).send(999.9, 0, flags=0x12, back=True).analyse()
    )

    assert [2, 4] == where(found.retransmission)


def test_zero_window_and_keep_alive() -> None:
    """A closed window is seen; a keep-alive is no retransmission; a reset closes no window."""
    talk = (
        Talk()
        .open()
        .send(3, 1, 100)
        .send(4, 1, back=True, says=(101, 0))
        .send(500, 100)
        .send(600, 101, flags=0x14, says=(1, 0))
    )
    found = talk.analyse()

    assert ([5], [6], []) == (
        where(found.zero_window),
        where(found.keep_alive),
        where(found.retransmission),
    )


def test_made_capture_has_the_retransmissions_that_were_made() -> None:
    """Each packet that the generator sent twice is found, and no other, in VXLAN too."""
    made = make_capture(10_000, vxlan=0.3, seed=5)
    columns = read_capture(made.data).packets.columns

    assert made.retransmissions == int(
        analyse_segments(columns, number_flows(columns)).retransmission.sum()
    )


def test_other_protocols_are_left_alone() -> None:
    """Of a capture without TCP nothing is said."""
    udp = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((5, 53), b"x")))
    columns = read_capture(frames.pcap([udp, udp])).packets.columns
    found = analyse_segments(columns, number_flows(columns))

    assert [] == where(found.retransmission | found.gap | found.duplicate_ack | found.zero_window)


class Packet(NamedTuple):
    """A segment of a made-up conversation: numbers are few, so that they collide in every way."""

    port: int
    back: bool
    seq: int
    ack: int
    payload: int
    flags: int
    window: int
    wait: int


PACKET = st.builds(
    Packet, st.integers(1, 3), st.booleans(), st.integers(-4, 12), st.integers(-4, 12),
    st.sampled_from((0, 1, 2, 9)),
    st.sampled_from((0x10, 0x10, 0x18, 0x02, 0x12, 0x11, 0x04, 0x14, 0x00)),
    st.sampled_from((0, 5)), st.sampled_from((1, 1_000_000, 2_999_999, 4_000_000, -1_000_000)),
)  # fmt: skip


class Receiver:
    """What one direction of a connection showed so far, packet by packet."""

    def __init__(self, round_trip: int) -> None:
        """Know within what time a segment may be overtaken."""
        self.round_trip = round_trip
        self.first: int | None = None
        self.expected: int | None = None
        self.grown = 0
        self.shown: set[int] = set()
        self.latest: Packet | None = None
        self.latest_time = 0
        self.latest_is_keep_alive = False
        self.asked_again = 0

    def judge(self, packet: Packet, time: int, other: Receiver) -> set[str]:
        """Say what a packet is, and take it up."""
        self.first = packet.seq if self.first is None else self.first
        relative, fin_or_syn = packet.seq - self.first, (packet.flags & 1) + (packet.flags >> 1 & 1)
        length, reset, asks = (
            packet.payload + fin_or_syn,
            packet.flags & 4 != 0,
            packet.flags & 0x10 != 0,
        )
        plain, known = not fin_or_syn and not reset, self.expected is not None
        ahead = relative - (self.expected or 0)
        kept = (
            known
            and plain
            and packet.payload <= 1
            and ahead == -1
            and (asks or packet.payload == 1)
        )
        repeats = known and length > 0 and not reset and ahead < 0 and not kept
        repeats = repeats and (ahead < -1 or packet.payload <= 1)
        spurious = (
            repeats
            and packet.payload > 0
            and other.latest is not None
            and other.latest.flags & 0x10 != 0
            and other.latest.ack >= packet.seq + packet.payload
        )
        asked_for = (
            other.latest is not None
            and other.asked_again >= 2
            and other.latest.ack == packet.seq
            and 0 <= time - other.latest_time < 20_000_000
        )
        late = (
            repeats
            and not spurious
            and 0 <= time - self.grown < self.round_trip
            and ahead + length != 0
            and not asked_for
        )
        same = self.latest is not None and (self.latest.ack, self.latest.window) == (
            packet.ack,
            packet.window,
        )
        again = plain and asks and length == 0 and packet.window > 0 and same and ahead == 0
        again = again and known
        said = {
            "keep_alive": kept, "spurious": spurious,
            "retransmission": repeats and (not late or relative in self.shown),
            "out_of_order": late, "gap": known and not reset and ahead > 0,
            "zero_window": plain and packet.window == 0,
            "duplicate_ack": again and not other.latest_is_keep_alive,
            "keep_alive_ack": again and other.latest_is_keep_alive,
        }  # fmt: skip
        if self.expected is None or ahead + length > 0:
            self.grown = time
        if length:
            self.shown.add(relative)
        if not reset:
            self.expected = max(
                relative + length, self.expected if self.expected is not None else relative
            )
        if self.latest is None or self.latest.ack != packet.ack:
            self.asked_again = 0
        self.asked_again += said["duplicate_ack"]
        self.latest, self.latest_time, self.latest_is_keep_alive = packet, time, kept
        return {name for name, holds in said.items() if holds}


def part(talk: list[Packet]) -> list[tuple[int, int, bool]]:
    """Tell of each packet its connection, by port and number, and whether it begins one where there
    was one before.
    """
    opened: dict[tuple[int, bool], int] = {}
    spoke: set[tuple[int, bool]] = set()
    numbers = dict.fromkeys((1, 2, 3), 0)
    found = []
    for packet in talk:
        way = packet.port, packet.back
        anew = False
        if packet.flags & 0x12 == 2:
            anew = packet.seq != opened[way] if way in opened else way in spoke
            opened[way] = packet.seq
        spoke.add(way)
        numbers[packet.port] += anew
        found.append((packet.port, numbers[packet.port], anew))
    return found


def find_round_trip(packets: list[tuple[Packet, int]], *, turned: bool) -> int:
    """Return the time from a connection's last SYN to the first ACK that its sender sends; three
    milliseconds where there are not both. Where both ends ask, the one that spoke second counts.
    """
    asked = [time for packet, time in packets if packet.flags & 0x12 == 2]
    took = 3_000_000
    for back in (turned, not turned):
        mine = [(packet, time) for packet, time in packets if packet.back == back]
        acks = [time for packet, time in mine if packet.flags & 0x16 == 0x10]
        if acks and any(packet.flags & 0x12 == 2 for packet, _ in mine):
            took = acks[0] - max(asked)
    return took if took > 0 else 3_000_000


@pytest.mark.parametrize("slab", [3, 1 << 15])
@given(st.lists(PACKET, max_size=25))
def test_packets_are_what_a_loop_says(slab: int, talk: list[Packet]) -> None:
    """Each packet is judged as by a program that keeps its state in variables, at numbers that
    wrap.
    """
    times = list(accumulate(packet.wait for packet in talk))
    parts = part(talk)
    connections: dict[tuple[int, int], list[tuple[Packet, int]]] = defaultdict(list)
    for packet, time, one in zip(talk, times, parts, strict=True):
        connections[one[:2]].append((packet, time))
    turned = {packet.port: packet.back for packet in reversed(talk)}
    trips = {
        name: find_round_trip(packets, turned=turned[name[0]])
        for name, packets in connections.items()
    }
    receivers = {name: (Receiver(trip), Receiver(trip)) for name, trip in trips.items()}
    expected = []
    for packet, time, one in zip(talk, times, parts, strict=True):
        mine, other = receivers[one[:2]][packet.back], receivers[one[:2]][not packet.back]
        expected.append(mine.judge(packet, time, other))
    made = empty_arrays(len(talk))
    made["time"] = np.cumsum(np.array([packet.wait for packet in talk], np.int64))
    for name in ("payload", "flags", "window"):
        made[name][:] = [getattr(packet, name) for packet in talk]
    for name in ("seq", "ack"):
        made[name][:] = [getattr(packet, name) % 2**32 for packet in talk]
    made["src"][:], made["dst"][:] = (
        [1 + packet.back for packet in talk],
        [2 - packet.back for packet in talk],
    )
    made["sport"][:] = made["dport"][:] = [packet.port for packet in talk]
    made["version"][:], made["protocol"][:] = 4, 6
    columns = PacketColumns(**made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tcp, "SLAB", slab)
        found = analyse_segments(columns, number_flows(columns))

    names = (
        "retransmission",
        "spurious",
        "out_of_order",
        "gap",
        "duplicate_ack",
        "zero_window",
        "keep_alive",
        "keep_alive_ack",
    )
    masks = {name: getattr(found, name) for name in names}
    assert [anew for *_, anew in parts] == found.reused.tolist()
    assert expected == [{name for name in names if masks[name][row]} for row in range(len(talk))]


def asked(path: Path, expression: str) -> list[int]:
    """Return the packets that tshark finds."""
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), "-Y", expression, "-T", "fields", "-e", "frame.number"],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return [int(line) for line in done.stdout.split()]


@pytest.mark.kernel("tshark")
def test_counts_are_tsharks(tmp_path: Path) -> None:
    """Retransmissions of thousands of packets are those that tshark finds, packet by packet, and so
    are the spurious ones.
    """
    path = tmp_path / "made.pcap"
    path.write_bytes(make_capture(12_000, seed=9).data)
    columns = read_capture(path.read_bytes()).packets.columns
    found = analyse_segments(columns, number_flows(columns))

    assert asked(path, RETRANSMITTED) == where(found.retransmission | found.out_of_order)
    assert asked(path, "tcp.analysis.spurious_retransmission") == where(found.spurious)


@pytest.mark.kernel("tshark")
def test_what_is_out_of_order_is_tsharks(tmp_path: Path) -> None:
    """Segments overtaken, repeated soon, repeated last, asked for and late are told apart as tshark
    does.
    """
    talk = Talk().open().send(3, 101, 100).send(3.2, 1, 100).send(3.4, 101, 100)
    talk.send(3.5, 201).send(3.6, 151, 50).send(3.7, 301, 100)
    for at in (3.8, 3.9, 4):
        talk.send(at, 1, back=True, says=(201, 500))
    talk.send(4.1, 201, 100).send(4.2, 501, 100).send(250, 401, 100).send(251, 1, 100)
    path = tmp_path / "talk.pcap"
    path.write_bytes(talk.data)
    found = talk.analyse()

    assert asked(path, "tcp.analysis.out_of_order") == where(found.out_of_order)
    assert asked(path, RETRANSMITTED) == where(found.retransmission | found.out_of_order)


@pytest.mark.kernel("tshark")
def test_kinds_are_tsharks(tmp_path: Path) -> None:
    """Gaps, duplicate acknowledgements, closed windows and keep-alives are found in the packets
    where tshark finds them.
    """
    talk = Talk().open().send(3, 1, 100).send(4, 201, 100)
    for at in (5, 6, 7):
        talk.send(at, 1, back=True, says=(101, 500))
    talk.send(250, 101, 100).send(251, 1, back=True, says=(301, 0)).send(800, 300).send(
        801, 1, back=True, says=(301, 0)
    )
    path = tmp_path / "talk.pcap"
    path.write_bytes(talk.data)
    found = talk.analyse()

    assert asked(path, "tcp.analysis.lost_segment") == where(found.gap)
    assert asked(path, RETRANSMITTED) == where(found.retransmission | found.out_of_order)
    assert asked(path, "tcp.analysis.keep_alive") == where(found.keep_alive)
    assert set(asked(path, "tcp.analysis.duplicate_ack")) <= set(where(found.duplicate_ack))
    assert asked(path, "tcp.analysis.zero_window") == where(found.zero_window)
