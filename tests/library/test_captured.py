"""Captures alone: the same answer as by the way of all evidence, without the readers of anything
else.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.diagnosis.capture_answer import answer_captures
from podpath.library.captured import read_captures_alone
from podpath.library.captures import captures
from podpath.library.reading import read_together
from podpath.report.capture_json import render_capture_json
from podpath.report.capture_text import render_capture
from podpath.report.style import Style
from tests.capture import frames

CAPTURES = sorted(
    Path(__file__).resolve().parents[2].glob("examples/incidents/*/bundle/captures/*.pcap")
)
LIGHT = """
import gc, sys; from podpath.cli.main import run
run(["capture", sys.argv[1]])
assert gc.isenabled()
heavy = {"podpath.evidence.recognition", "podpath.assembly.case", "podpath.datapath.tracing.trace", "podpath.checks.registry", "podpath.evidence.documents.complaints", "podpath.evidence.node_records", "podpath.node.change", "podpath.node.netfilter", "podpath.node.nftables", "podpath.net.messages", "tarfile"}
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
    out, and so are the classes of what captures do not show: making one takes longer than reading
    hundreds of packets.

    The garbage collector, which has no look at imports, is on again afterwards.
    """
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(path)], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)


LISTING = """\
2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default
    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1@if2: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default
    link/ether 02:00:00:00:00:05 brd ff:ff:ff:ff:ff:ff link-netnsid 0
"""


def _any(folder: Path, name: str, *indices: int) -> str:
    """Write a capture on `any` that shows a segment on each of these devices."""
    segment = frames.ipv4(6, frames.tcp())
    cooked = [
        struct.pack(">HHIHBB", 0x0800, 0, index, 1, 0, 6) + frames.MAC_A + bytes(2) + segment
        for index in indices
    ]
    (folder / name).write_bytes(frames.pcap(cooked, link_type=276))
    return str(folder / name)


@pytest.mark.parametrize(
    ("files", "listing", "expected"),
    [
        ({"any.pcap": (2, 5)}, LISTING, ["any.pcap eth0 in", "any.pcap veth1 in"]),
        ({"any.pcap": (2, 7)}, LISTING, ["any.pcap ifindex 2 in", "any.pcap ifindex 7 in"]),
        ({"a.pcap": (2,), "b.pcap": (5,)}, LISTING, ["a.pcap ifindex 2 in", "b.pcap ifindex 5 in"]),
        ({"any.pcap": (2, 5)}, "", ["any.pcap ifindex 2 in", "any.pcap ifindex 5 in"]),
    ],
)
def test_devices_have_the_names_of_the_listing_beside(
    tmp_path: Path, files: dict[str, tuple[int, ...]], listing: str, expected: list[str]
) -> None:
    """A listing names the devices of the only capture on `any` beside it, if it has all; else the
    answer says what to give.
    """
    paths = [_any(tmp_path, name, *indices) for name, indices in files.items()]
    if listing:
        (tmp_path / "links.txt").write_text(listing)
        paths.append(str(tmp_path / "links.txt"))
    answer = captures(paths).answer
    hint = "To name these devices" in " ".join(render_capture(answer, Style()).split())

    assert expected == [point.name.removeprefix(f"{tmp_path}/") for point in answer.points]
    assert ["ifindex" in name for name in expected] == [one.unnamed for one in answer.points]
    assert hint is any("ifindex" in name for name in expected)
