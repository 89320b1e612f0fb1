"""Packets that the real kernel sent, captured by tcpdump: columns and TCP analysis against tshark,
packet by packet.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.reading.read import DecodedCapture, read_capture
from tests.capture import live_headers, live_points
from tests.capture.tshark import differences, read_fields

VXLAN = ("-d", "udp.port==8472,vxlan", "-d", "udp.port==4790,vxlan")
"""Ports on which tshark does not expect VXLAN by itself."""
ANALYSES = {
    "repeated": " || ".join(
        f"tcp.analysis.{name}"
        for name in (
            "retransmission",
            "fast_retransmission",
            "spurious_retransmission",
            "out_of_order",
        )
    ),
    "duplicate_ack": "tcp.analysis.duplicate_ack",
    "zero_window": "tcp.analysis.zero_window",
    "gap": "tcp.analysis.lost_segment",
    "keep_alive": "tcp.analysis.keep_alive",
}
"""By our name, tshark's filter. A capture on `any` is left out: tshark takes copies on other
devices for repeats.
"""


def agreed(path: Path) -> DecodedCapture:
    """Read a capture, and hold every field of every packet against tshark."""
    capture = read_capture(path.read_bytes())
    rows = read_fields(path, *VXLAN)

    assert (path.name, len(rows)) == (path.name, len(capture.packets))
    assert [] == list(differences(capture.packets, rows))[:5]
    return capture


def asked(path: Path, which: str) -> list[int]:
    """Return the numbers of the packets that a filter of tshark's keeps."""
    command = [
        "tshark",
        "-n",
        "-r",
        str(path),
        *VXLAN,
        "-Y",
        which,
        "-T",
        "fields",
        "-e",
        "frame.number",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    return [int(number) for number in done.stdout.split()]


@pytest.mark.kernel(*live_headers.TOOLS, "tshark")
def test_headers_of_the_kernel_agree_with_tshark(tmp_path: Path) -> None:
    """ARP, both families, VXLAN over both, fragments and ICMP errors with what they quote, on a
    device and on `any`.
    """
    for path in live_headers.record(tmp_path):
        packets = agreed(path).packets
        columns = packets.columns
        seen = set(
            zip(
                columns.outer_version.tolist(),
                columns.version.tolist(),
                columns.protocol.tolist(),
                strict=True,
            )
        )

        assert {
            (0, 4, 1),
            (0, 4, 6),
            (0, 4, 17),
            (0, 6, 6),
            (0, 6, 17),
            (0, 6, 58),
            (4, 4, 1),
            (4, 6, 58),
            (6, 4, 1),
        } <= seen
        assert int((columns.fragment & 0x3FFF > 0).sum()) >= 6
        assert len(packets.quotes.row)
        assert len(packets.arps.row)


@pytest.mark.kernel(*live_points.TOOLS, "tshark")
def test_captures_of_six_points_agree_with_tshark(tmp_path: Path) -> None:
    """Through bridges, translation, masquerading and VXLAN, with super-packets, and with a planted
    loss: fields and analysis.
    """
    live_points.record(tmp_path, drop=True)
    longest = 0
    for name, _, device in live_points.PLACES:
        path = tmp_path / f"{name}.pcap"
        columns = agreed(path).packets.columns
        longest = max(longest, int(columns.payload.max()))
        if device == "any":
            continue
        found = analyse_segments(columns, number_flows(columns))
        masks = {which: getattr(found, which) for which in ANALYSES if which != "repeated"}
        masks["repeated"] = found.retransmission | found.out_of_order
        for which, mask in masks.items():
            assert (name, which, asked(path, ANALYSES[which])) == (
                name,
                which,
                (np.flatnonzero(mask) + 1).tolist(),
            )

    assert longest > 1500
