"""Captures alone to a case: the same frames on the same node as the whole assembly makes of
them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.assembly.captured_case import assemble_captured
from podpath.assembly.case import assemble_case
from podpath.evidence.records import Reading
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import Source

CAPTURES = sorted(
    Path(__file__).resolve().parents[2].glob("examples/incidents/*/bundle/captures/*.txt")
)


def read_capture(path: Path) -> tuple[Source, Reading]:
    """Read a printed capture."""
    source = Source(
        name=path.name,
        lines=tuple(path.read_text().splitlines()),
        command=f"tcpdump -nn -e -r {path.stem}.pcap",
    )
    return source, read_tcpdump(source)


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in CAPTURES}), ids=lambda path: path.parts[-3]
)
def test_captures_alone_give_what_the_whole_assembly_gives(folder: Path) -> None:
    """Of a recorded incident's captures: the node that follows from them, every frame, every ARP
    frame, every gap.
    """
    readings = [read_capture(path) for path in CAPTURES if path.parent == folder]
    alone, whole = assemble_captured(readings), assemble_case(readings)

    assert whole.node == alone.node
    assert whole.sightings == alone.sightings
    assert len(alone.sightings) > 1
    assert whole.arps == alone.arps
    assert whole.gaps == alone.gaps


def test_no_capture_gives_an_empty_case() -> None:
    """A node is there all the same, with its host's namespace."""
    case = assemble_captured(())

    assert ((), ("host",)) == (case.sightings, tuple(case.node.namespaces))
