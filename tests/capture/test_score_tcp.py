"""The comparison with tshark and Zeek: what counts as the same, and which of its logs are found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import OUT_OF_ORDER, analyse_segments
from podpath_capture.reading.read import read_capture
from scripts.score_tcp import AHEAD, ASKED, FIELDS, compare, count_states, render_kinds
from tests.capture import frames

ENDS = ("10.0.0.1", "10.0.0.2")


def segment(flags: int, seq: int, ack: int, size: int = 0, *, back: bool = False) -> bytes:
    """Make a frame of one connection to port 80."""
    ports, ends = ((80, 4000), ENDS[::-1]) if back else ((4000, 80), ENDS)
    made = frames.tcp(flags, ports=ports, numbers=(seq, ack), data=bytes(size))
    return frames.ethernet(0x0800, frames.ipv4(6, made, ends=ends))


def test_packets_are_compared_one_by_one() -> None:
    """What both mark, what one alone does, and why, where that is known."""
    made = [segment(0x10, 1, 1, 5), segment(0x10, 6, 1, 5), segment(0x10, 1, 1, 5)]
    columns = read_capture(frames.pcap(made)).packets.columns
    flows = number_flows(columns)
    said = np.array([0, 0, OUT_OF_ORDER], np.uint8)
    mine = replace(analyse_segments(columns, flows), said=said)
    theirs = {name: np.zeros(3, np.bool_) for name in FIELDS}
    theirs["fast_retransmission"][2] = True
    kinds = {kind.name: kind for kind in compare(columns, flows, mine, theirs)}

    both = kinds["sent again or out of order"]
    assert (both.tshark & both.mine).tolist() == [False, False, True]
    late = kinds["out of order"]
    known = dict(late.reasons)[ASKED]
    assert (late.mine & ~late.tshark & known).tolist() == [False, False, True]


def test_what_comes_behind_a_reset_is_explained() -> None:
    """tshark goes on from the number that a reset has, and compares later packets with it."""
    made = [segment(0x04, 9, 0), segment(0x10, 1, 1, 5), segment(0x10, 1, 1, 5, back=True)]
    columns = read_capture(frames.pcap(made)).packets.columns
    flows = number_flows(columns)
    theirs = {name: np.zeros(3, np.bool_) for name in FIELDS}
    kinds = compare(columns, flows, analyse_segments(columns, flows), theirs)
    (again,) = [kind for kind in kinds if kind.name == "sent again or out of order"]

    assert dict(again.reasons)[AHEAD].tolist() == [False, True, False]


def test_share_is_of_what_either_marks() -> None:
    """Packets that nobody marks do not count as agreement."""
    counts = Counter({("gap", "both"): 3, ("gap", "tshark"): 1, ("gap", "mine"): 0})

    assert "| gap | 3 | 1 | 0 | 75.0% |  |" == list(render_kinds(counts))[2]


def test_zeeks_logs_are_found_by_their_tests(tmp_path: Path) -> None:
    """A test's script names the capture, the folder of its name holds the log."""
    btest = tmp_path / "testing" / "btest"
    (btest / "Traces").mkdir(parents=True)
    (btest / "Baseline" / "core.one").mkdir(parents=True)
    (btest / "core").mkdir()
    (btest / "core" / "one.zeek").write_text("# @TEST-EXEC: zeek -b -r $TRACES/one.pcap %INPUT\n")
    (btest / "Baseline" / "core.one" / "conn.log").write_text(
        "#fields\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tconn_state\n"
        "10.0.0.1\t4000\t10.0.0.2\t80\ttcp\tS0\n"
    )
    (btest / "Traces" / "one.pcap").write_bytes(frames.pcap([segment(2, 1, 0)]))

    assert (Counter({("S0", "S0"): 1}), []) == count_states(tmp_path)
