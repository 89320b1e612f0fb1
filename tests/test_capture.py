"""Columns and what tshark reads of the same packets, field by field."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.made_capture import make_capture
from podpath_capture.reading.read import read_capture
from tests.capture.tshark import differences, read_fields


@pytest.mark.kernel("tshark")
@pytest.mark.parametrize("vxlan", [0.0, 0.3])
def test_made_capture_agrees_with_tshark(tmp_path: Path, vxlan: float) -> None:
    """Of a few thousand packets, some in VXLAN, every field is what tshark says."""
    path = tmp_path / "made.pcap"
    made = make_capture(4_000, vxlan=vxlan)
    path.write_bytes(made.data)
    rows = read_fields(path)

    assert made.packets == len(rows)
    assert [] == list(differences(read_capture(made.data).packets, rows))[:5]
