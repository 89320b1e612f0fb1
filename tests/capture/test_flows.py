"""Flows: which packets belong together, and which connections fail."""

from __future__ import annotations

from bench.made_capture import make_capture
from podpath.capture.flows import number_flows, select_failing
from podpath.capture.read import read_capture
from tests.capture import frames

HERE, THERE = ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")


def frame(flags: int, *, port: int = 40000, back: bool = False) -> bytes:
    """Make a segment of the connection from a client port, or of its way back."""
    ports = (80, port) if back else (port, 80)
    return frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(flags, ports=ports), ends=THERE if back else HERE))


def test_both_directions_are_one_flow() -> None:
    """A reply belongs to its request's flow, and goes the other way."""
    columns = read_capture(frames.pcap([frame(2), frame(2, port=40001), frame(0x12, back=True), frame(0x10)])).packets.columns
    flows = number_flows(columns)

    assert [0, 1, 0, 0] == flows.number.tolist()
    assert [True, True, False, True] == flows.forward.tolist()
    assert [0, 1] == flows.first.tolist()


def test_flows_of_a_made_capture() -> None:
    """As many flows are found as were made."""
    made = make_capture(8_000, vxlan=0.2)

    assert made.flows == len(number_flows(read_capture(made.data).packets.columns))


def test_failing_connections_are_selected() -> None:
    """Connections that are not answered, or are reset, are kept; those that come about are not."""
    good = [frame(2), frame(0x12, back=True), frame(0x10), frame(0x18)]
    hanging = [frame(2, port=40001), frame(2, port=40001)]
    refused = [frame(2, port=40002), frame(0x14, port=40002, back=True)]
    columns = read_capture(frames.pcap([*good, *hanging, *refused])).packets.columns

    assert [4, 5, 6, 7] == select_failing(columns).tolist()


def test_empty_capture_has_no_flows() -> None:
    """Nothing captured, nothing flows."""
    columns = read_capture(frames.pcap([])).packets.columns

    assert (0, 0) == (len(number_flows(columns)), len(select_failing(columns)))
