"""Flows: which packets belong together, and which connections fail."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from bench.made_capture import make_capture
from podpath_capture.flows.flows import find_rows, number_flows
from podpath_capture.reading.read import read_capture
from tests.capture import frames

HERE, THERE = ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")


def frame(flags: int, *, port: int = 40000, back: bool = False) -> bytes:
    """Make a segment of the connection from a client port, or of its way back."""
    ports = (80, port) if back else (port, 80)
    return frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(flags, ports=ports), ends=THERE if back else HERE)
    )


def test_both_directions_are_one_flow() -> None:
    """A reply belongs to its request's flow, and goes the other way."""
    columns = read_capture(
        frames.pcap([frame(2), frame(2, port=40001), frame(0x12, back=True), frame(0x10)])
    ).packets.columns
    flows = number_flows(columns)

    assert [0, 1, 0, 0] == flows.number.tolist()
    assert [True, True, False, True] == flows.forward.tolist()
    assert [0, 1] == flows.first.tolist()


def test_flows_of_a_made_capture() -> None:
    """As many flows are found as were made."""
    made = make_capture(8_000, vxlan=0.2)

    assert made.flows == len(number_flows(read_capture(made.data).packets.columns))


def test_packets_of_some_flows_are_found() -> None:
    """In the order of the file, and none that is of no flow."""
    arp = frames.ethernet(0x0806, bytes(28))
    columns = read_capture(
        frames.pcap([frame(2), arp, frame(2, port=40001), frame(0x12, back=True), arp])
    ).packets.columns
    flows = number_flows(columns)

    assert [[0, 3], [2], []] == [
        find_rows(flows, np.array(some, np.int64)).tolist() for some in ([0], [1], [])
    ]


def test_empty_capture_has_no_flows() -> None:
    """Nothing captured, nothing flows."""
    columns = read_capture(frames.pcap([])).packets.columns

    assert 0 == len(number_flows(columns))


def test_the_same_ends_elsewhere_are_another_flow() -> None:
    """One connection seen on two devices of a capture on `any`, on two interfaces of a file, or in
    two tunnel networks is two.
    """
    inner = frame(2)
    cooked = [
        struct.pack(">HHIHBB", 0x0800, 0, device, 1, 0, 6) + frames.MAC_A + bytes(2) + inner[14:]
        for device in (2, 3, 2)
    ]
    tunnels = [
        frames.ethernet(
            0x0800,
            frames.ipv4(
                17, frames.udp((5, 8472), struct.pack(">II", 0x08000000, vni << 8) + inner)
            ),
        )
        for vni in (1, 2, 1 << 22, 2)
    ]
    two = (
        frames.section()
        + frames.interface() * 2
        + b"".join(frames.packet(inner, number) for number in (0, 1, 0))
    )

    assert [0, 1, 0] == number_flows(
        read_capture(frames.pcap(cooked, link_type=276)).packets.columns
    ).number.tolist()
    assert [0, 1, 2, 1] == number_flows(
        read_capture(frames.pcap(tunnels)).packets.columns
    ).number.tolist()
    assert [0, 1, 0] == number_flows(read_capture(two).packets.columns).number.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_flows_are_those_of_a_dictionary(seed: int) -> None:
    """Each packet's number is what a dictionary of both ends gives, in the order of first
    packets.
    """
    columns = read_capture(make_capture(40_000, vxlan=0.1, seed=seed).data).packets.columns
    flows = number_flows(columns)
    sides = [
        (columns.src.tolist(), columns.sport.tolist()),
        (columns.dst.tolist(), columns.dport.tolist()),
    ]
    ends = zip(zip(*sides[0], strict=True), zip(*sides[1], strict=True), strict=True)
    rest = zip(
        columns.vni.tolist(), columns.version.tolist(), columns.protocol.tolist(), strict=True
    )
    known: dict[tuple[object, ...], int] = {}

    assert flows.number.tolist() == [
        known.setdefault((min(pair), max(pair), other), len(known))
        for pair, other in zip(ends, rest, strict=True)
    ]
    assert len(known) == len(flows)


def tunneled(port: int, number: int, *, back: bool = False) -> bytes:
    """Make a segment in a tunnel with a number: VXLAN or GTP-U, by the port."""
    ends, ports = (THERE, (80, 4000)) if back else (HERE, (4000, 80))
    inner = frames.ipv4(6, frames.tcp(0x10, ports=ports), ends=ends)
    head = struct.pack(">BBHI", 0x30, 0xFF, len(inner), number)
    if port == 4789:
        head, inner = struct.pack(">II", 0x08000000, number << 8), frames.ethernet(0x0800, inner)
    outer = ("172.16.0.2", "172.16.0.1") if back else ("172.16.0.1", "172.16.0.2")
    return frames.ethernet(
        0x0800, frames.ipv4(17, frames.udp((50_000, port), head + inner), ends=outer)
    )


PORTS = (2152, 4789)


@pytest.mark.parametrize("port", PORTS)
def test_directions_are_one_where_each_has_its_number(port: int) -> None:
    """GTP-U numbers each direction by itself; Cilium writes the sender's identity where VXLAN has
    its network: forward and back is one flow, numbered in the order of first packets.
    """
    plain = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((1, 2), b"")))
    made = [tunneled(port, 7), plain, tunneled(port, 8, back=True), plain, tunneled(port, 7)]
    columns = read_capture(frames.pcap(made)).packets.columns
    flows = number_flows(columns)

    assert [7, 0, 8, 0, 7] == columns.vni.tolist()
    assert [0, 1, 0, 1, 0] == flows.number.tolist()
    assert [0, 1] == flows.first.tolist()
    assert [True, True, False, True, True] == flows.forward.tolist()


def test_the_answer_may_come_first() -> None:
    """Which direction is captured first does not matter."""
    made = [tunneled(4789, 8, back=True), tunneled(4789, 7), tunneled(4789, 8, back=True)]
    flows = number_flows(read_capture(frames.pcap(made)).packets.columns)

    assert [0, 0, 0] == flows.number.tolist()
    assert [True, False, True] == flows.forward.tolist()


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([(7, False), (7, True), (8, False), (8, True)], [0, 0, 1, 1]),
        ([(7, False), (7, True), (8, False)], [0, 0, 1]),
        ([(7, False), (8, False), (9, True)], [0, 1, 2]),
        ([(7, False), (8, False)], [0, 1]),
    ],
)
def test_networks_may_have_equal_addresses(
    sent: list[tuple[int, bool]], expected: list[int]
) -> None:
    """A network with both directions is by itself, and so is what more than one could answer."""
    made = [tunneled(4789, number, back=back) for number, back in sent]
    flows = number_flows(read_capture(frames.pcap(made)).packets.columns)

    assert expected == flows.number.tolist()
