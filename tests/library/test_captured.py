"""Captures alone: the same answer as by the way of all evidence, without the readers of anything
else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podpath.diagnosis.capture_answer import answer_captures
from podpath.library.captured import read_captures_alone
from podpath.library.reading import read_together
from podpath.report.capture_json import render_capture_json
from tests.capture import frames

CAPTURES = sorted(
    Path(__file__).resolve().parents[2].glob("examples/incidents/*/bundle/captures/*.pcap")
)
LIGHT = """
import gc, sys; from podpath.cli.main import run
run(["capture", sys.argv[1]])
assert gc.isenabled()
heavy = {"podpath.evidence.recognition", "podpath.assembly.case", "podpath.datapath.conversations.conversation", "tarfile"}
sys.exit(" ".join(sorted(heavy & set(sys.modules))) or 0)
"""  # noqa: E501


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in CAPTURES}), ids=lambda path: path.parts[-3]
)
def test_captures_alone_say_what_they_say_among_other_evidence(folder: Path) -> None:
    """A recorded incident's captures give the same frames and the same answer by both ways."""
    paths = [str(path) for path in CAPTURES if path.parent == folder]
    alone, whole = read_captures_alone(paths), read_together(paths)

    assert alone.matched is not None
    assert whole.matched is not None
    apart = answer_captures(alone.facts, alone.matched.points)
    together = answer_captures(whole.facts, whole.matched.points)
    assert render_capture_json(together) == render_capture_json(apart)
    assert [seen.packet for seen in whole.facts.sightings] == [
        seen.packet for seen in alone.facts.sightings
    ]


def test_captures_alone_load_no_other_reader(tmp_path: Path) -> None:
    """Most of the time of a short call is imports: those of all formats and of the walk are left
    out.

    The garbage collector, which has no look at imports, is on again afterwards.
    """
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(path)], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
