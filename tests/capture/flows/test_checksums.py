"""Outer checksums of tunnel packets that came in."""

from __future__ import annotations

import struct

import pytest

from podpath.net.addresses import Address
from podpath_capture.flows.checksums import find_wrong_sums
from podpath_capture.reading.read import read_capture
from tests.capture import frames

OUTER = ("192.0.2.4", "192.0.2.5")


def vxlan(sum_: int | None, *, kind: int = 0) -> bytes:
    """Make a cooked packet of VXLAN with that outer checksum, the right one where none is given;
    `kind` 0 came in, 4 went out.
    """
    inner = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
    body = struct.pack(">II", 0x08000000, 7 << 8) + inner
    udp = struct.pack(">4H", 50111, 8472, 8 + len(body), 0) + body
    pseudo = b"".join(Address.parse(end).value.to_bytes(4, "big") for end in OUTER) + struct.pack(
        ">HH", 17, len(udp)
    )
    words = pseudo + udp + bytes(len(udp) % 2)
    total = sum(struct.unpack(f">{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    right = ~total & 0xFFFF
    udp = udp[:6] + struct.pack(">H", right if sum_ is None else sum_) + udp[8:]
    head = struct.pack(">HHIHBB8s", 0x0800, 0, 3, 1, kind, 6, bytes(8))
    return head + frames.ipv4(17, udp, ends=OUTER)


@pytest.mark.parametrize(
    ("packet", "expected"),
    [(vxlan(None), []), (vxlan(0), []), (vxlan(0x1234), [0]), (vxlan(0x1234, kind=4), [])],
    ids=["right", "none", "wrong", "wrong, going out"],
)
def test_wrong_sum_of_what_came_in_is_found(packet: bytes, expected: list[int]) -> None:
    """A wrong sum counts where the packet came in; one that is zero is none."""
    data = frames.pcap([packet], link_type=276)
    capture = read_capture(data)

    assert 1 == int(capture.packets.columns.depth[0])
    assert expected == sorted(find_wrong_sums(capture.packets, data, capture.interfaces, [0]))


def test_cut_packet_is_not_judged() -> None:
    """Of a packet that was not captured whole the sum cannot be known."""
    data = frames.pcap([vxlan(0x1234)], link_type=276, snaplen=100)
    capture = read_capture(data)

    assert not find_wrong_sums(capture.packets, data, capture.interfaces, [0])
