"""Files of every shape, whole, cut and damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.columns import CUT
from podpath_capture.reading.read import read_capture
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
MIXED = [
    SYN,
    frames.ethernet(0x86DD, frames.ipv6(17, frames.udp((5, 53), b"question"))),
    frames.ethernet(
        0x0806,
        bytes.fromhex("0001080006040001") + frames.MAC_A + b"\x0a\0\0\1" + bytes(6) + b"\x0a\0\0\2",
    ),
    frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(0x18, data=b"payload"))),
]
SHARED = Path(__file__).resolve().parents[3] / "shared" / "captures" / "tcpdump-tests"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_in_both_byte_orders_and_units(order: str, nanoseconds: bool) -> None:  # noqa: FBT001
    """A pcap file's packets, times and lengths are the same however it was written."""
    found = read_capture(frames.pcap(MIXED, order=order, nanoseconds=nanoseconds))
    columns = found.packets.columns

    assert found.damages == ()
    assert columns.time.tolist() == [
        (frames.START + at) * 10**9 + (5 if nanoseconds else 5000) for at in range(4)
    ]
    assert columns.wirelen.tolist() == [len(frame) for frame in MIXED]
    assert columns.version.tolist() == [4, 6, 0, 4]
    assert columns.protocol.tolist() == [6, 17, 0, 6]
    assert columns.payload.tolist() == [0, 8, 0, 7]


def test_header_with_kuznetsovs_patch_is_longer() -> None:
    """The modified pcap of old Linux has 8 more bytes before each packet."""
    head = struct.pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
    record = struct.pack("<4I", frames.START, 5, len(SYN), len(SYN)) + struct.pack(
        "<IHBB", 2, 0x0800, 0, 0
    )

    assert read_capture(head + (record + SYN) * 2).packets.columns.dport.tolist() == [80, 80]


def test_empty_capture_has_no_packets() -> None:
    """A file of a header alone is a capture of nothing."""
    assert len(read_capture(frames.pcap([])).packets) == 0


def test_what_is_no_capture_is_refused() -> None:
    """Any other file is said to be none."""
    with pytest.raises(ValueError, match="expected a capture"):
        read_capture(b"# a ticket\n")


def test_unread_link_type_is_told() -> None:
    """Packets of a link type that is not read are counted, and the type is named."""
    found = read_capture(frames.pcap(MIXED, link_type=127))

    assert (4, [0, 0, 0, 0]) == (len(found.packets), found.packets.columns.version.tolist())
    assert ["802.11 with radiotap header"] == [why.partition("saw ")[2] for _, why in found.damages]


def test_short_snaplen_marks_headers_that_were_cut() -> None:
    """A header that was not captured whole is marked, and what stands before it is read."""
    columns = read_capture(frames.pcap([SYN], snaplen=14 + 20 + 6)).packets.columns

    assert (CUT, 40000, 80, 0) == (
        columns.broken[0],
        columns.sport[0],
        columns.dport[0],
        columns.seq[0],
    )


@pytest.mark.parametrize(
    "parts",
    [
        [frames.pcap([]), *(frames.pcap([frame])[24:] for frame in MIXED)],
        [frames.section(), frames.interface(), *map(frames.packet, MIXED)],
    ],
)
def test_file_cut_at_every_byte(parts: list[bytes]) -> None:
    """A file that ends anywhere gives its whole packets, and one damage where it does not end
    between two.
    """
    data = b"".join(parts)
    ends = [sum(map(len, parts[:count])) for count in range(1, len(parts) + 1)]
    whole = [len(frame) for frame in MIXED]
    for size in range(ends[0], len(data)):
        found = read_capture(data[:size])
        count = sum(end <= size for end in ends[-len(MIXED) :])
        assert whole[:count] == found.packets.columns.wirelen.tolist()
        assert (size not in ends) == len(found.damages)
        assert [max(end for end in ends if end <= size)] * len(found.damages) == [
            damage.offset for damage in found.damages
        ]


@given(st.data())
def test_flipped_bytes_never_crash(data: st.DataObject) -> None:
    """Whatever a file is damaged to, reading ends with columns and damages inside the file."""
    whole = data.draw(
        st.sampled_from(
            [frames.pcap(MIXED * 3), frames.section() + frames.interface() + frames.packet(SYN) * 5]
        )
    )
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(16, len(whole) - 1))] = data.draw(st.integers(0, 255))
    found = read_capture(bytes(damaged))

    assert all(0 <= damage.offset <= len(damaged) for damage in found.damages)
    assert bool(np.all(found.packets.columns.offset + found.packets.columns.caplen <= len(damaged)))


@given(st.binary(max_size=300), st.sampled_from([0, 1, 101, 113, 276]))
def test_any_bytes_are_a_packet(body: bytes, link_type: int) -> None:
    """Headers of any content are read or marked, on every link type."""
    assert len(read_capture(frames.pcap([body, SYN], link_type=link_type)).packets) == 2


def test_damage_in_the_middle_is_skipped() -> None:
    """Behind a record whose length is nonsense the walk goes on where records follow each other
    again.
    """
    data = bytearray(frames.pcap([SYN] * 40))
    record = 16 + len(SYN)
    data[24 + 10 * record + 8 : 24 + 10 * record + 12] = b"\xff\xff\xff\x7f"
    found = read_capture(bytes(data))

    assert len(found.packets) == 39
    assert [(24 + 10 * record, True)] == [
        (damage.offset, f"{record} bytes are left out" in damage.why) for damage in found.damages
    ]


def test_every_capture_of_tcpdumps_own_tests_is_read() -> None:
    """No capture of the tcpdump project's tests crashes the reader, or has a damage outside of
    it.
    """
    if not SHARED.is_dir():
        pytest.skip("the tcpdump project's test captures are not here")
    read = 0
    for path in sorted(SHARED.glob("*.pcap*")):
        data = path.read_bytes()
        found = read_capture(data)
        assert all(0 <= damage.offset <= len(data) for damage in found.damages), path.name
        read += 1

    assert read > 800
