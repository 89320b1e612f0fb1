"""Files to capture points."""

from __future__ import annotations

import struct

import pytest

from podpath_capture.points import CapturedFile, number_points
from podpath_capture.reading.read import read_capture
from tests.capture import frames

FRAME = frames.ipv4(6, frames.tcp())


def cooked(ifindex: int, kind: int) -> bytes:
    """Make a packet of a capture on `any`; kind 4 is outgoing."""
    return struct.pack(">HHIHBB8s", 0x0800, 0, ifindex, 1, kind, 6, frames.MAC_A) + FRAME


def test_a_device_is_a_point() -> None:
    """A capture on one Ethernet device is one point, named after its file and the device that
    somebody names.
    """
    capture = read_capture(frames.pcap([frames.ethernet(0x0800, FRAME)] * 3))
    found = number_points([CapturedFile(name="a.pcap", capture=capture, device="eth0", dropped=4)])
    (point,) = found.points

    assert ("a.pcap eth0", "eth0", "", "a.pcap", 3, 4) == (
        point.name, point.device, point.direction, point.host, point.packets, point.dropped
    )  # fmt: skip
    assert (2_000_000_000, [0, 0, 0]) == (point.last - point.first, found.places[0].tolist())


def test_any_has_a_point_for_each_device_and_direction() -> None:
    """Both directions of a device are two points of one device; the window is the device's."""
    capture = read_capture(
        frames.pcap([cooked(2, 0), cooked(3, 4), cooked(2, 4), cooked(2, 0)], link_type=276)
    )
    found = number_points([CapturedFile(name="any.pcap", capture=capture, devices={2: "eth0"})])

    assert ["any.pcap eth0 in", "any.pcap ifindex 3 out", "any.pcap eth0 out"] == [
        point.name for point in found.points
    ]
    assert ((0, 1, 0), [0, 1, 2, 0]) == (found.device, found.places[0].tolist())
    assert (found.points[0].first, found.points[0].last) == (
        found.points[2].first,
        found.points[2].last,
    )


def test_interfaces_of_pcapng_are_points_with_their_counters() -> None:
    """Names and drop counters come from the file where it has them."""
    name, dropped = frames.option(2, b"cni0"), frames.option(5, struct.pack("<Q", 7))
    blocks = [
        frames.section(),
        frames.interface(options=name),
        frames.interface(options=frames.option(2, b"eth0")),
        frames.packet(frames.ethernet(0x0800, FRAME), 1),
        frames.packet(frames.ethernet(0x0800, FRAME), 0),
        frames.block(5, struct.pack("<III", 0, 0, 0) + dropped + frames.option(0, b"")),
    ]
    found = number_points([CapturedFile(name="two.pcapng", capture=read_capture(b"".join(blocks)))])

    assert [("eth0", 0), ("cni0", 7)] == [(point.device, point.dropped) for point in found.points]


@pytest.mark.parametrize("cut", [20, 40])
def test_headers_that_were_not_captured_are_counted(cut: int) -> None:
    """A snapshot length that cuts headers makes packets unknown."""
    capture = read_capture(frames.pcap([frames.ethernet(0x0800, FRAME)], snaplen=cut))

    assert [1] == [
        point.cut for point in number_points([CapturedFile(name="a", capture=capture)]).points
    ]


def test_names_are_distinct() -> None:
    """Two files of one name give points of two names."""
    capture = read_capture(frames.pcap([frames.ethernet(0x0800, FRAME)]))

    assert ["a #1", "a #2"] == [
        point.name for point in number_points([CapturedFile(name="a", capture=capture)] * 2).points
    ]
