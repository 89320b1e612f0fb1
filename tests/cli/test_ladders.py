"""The drawing of `podpath capture`: what it says where there is nothing to draw, or nowhere to write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.cli.captured import read_captures_alone
from podpath.cli.ladders import draw_ladder, write_ladder
from podpath.diagnosis.capture_answer import CaptureAnswer
from podpath.diagnosis.capture_filter import parse_wanted
from podpath.net.errors import MissingExtra, UsageError
from tests.capture import frames

NOTHING = CaptureAnswer(findings=(), points=(), connections=())


def test_only_connection_is_drawn_and_written(tmp_path: Path) -> None:
    """It is the one that is drawn where nobody asks for another; what fits none, or cannot be written, is an error."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    _, matched = read_captures_alone([str(path)])
    drawn = draw_ladder(matched, NOTHING, ())
    write_ladder(str(tmp_path / "drawing.svg"), drawn)

    assert (tmp_path / "drawing.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(UsageError, match="nothing to draw"):
        draw_ladder(matched, NOTHING, [parse_wanted("10.9.9.9")])
    with pytest.raises(UsageError, match="no such file"):
        write_ladder(str(tmp_path / "none" / "drawing.svg"), drawn)


def test_drawing_needs_packets() -> None:
    """Where they could not be put together, what to install is said."""
    with pytest.raises(MissingExtra, match="NumPy"):
        draw_ladder(None, NOTHING, ())
