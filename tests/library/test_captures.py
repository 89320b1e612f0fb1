"""Captures by the library, and their ladders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podpath.library.captures import captures
from podpath.net.errors import MissingExtra, UsageError
from tests.capture import frames


@pytest.fixture
def eth0(tmp_path: Path) -> Path:
    """Write a capture of one packet."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    return path


def test_capture_files_and_printed_ones_give_the_same_kind_of_answer(eth0: Path) -> None:
    """Connections are listed, and can be narrowed by as much of one as is known."""
    whole = captures(eth0)
    one = whole.connections[0]
    port = one.words.rpartition(":")[2]

    assert (1, whole.answer.verdict, whole.answer.exit_code) == (
        len(whole.connections),
        whole.verdict,
        whole.exit_code,
    )
    assert [one.words] == [found.words for found in captures([eth0], [f":{port}"]).connections]
    with pytest.raises(UsageError, match="they show tcp"):
        captures(eth0, ["10.9.9.9"])


def test_only_connection_is_drawn(eth0: Path) -> None:
    """The ladder is of the connection that there is, in the text where it is asked for, and as a
    drawing.
    """
    result = captures(eth0)
    drawn = result.with_ladder()

    assert result.svg().startswith("<svg")
    assert drawn.svg() == result.svg()
    assert len(drawn.text()) > len(result.text())


def test_drawing_needs_packets(eth0: Path) -> None:
    """Where they could not be put together, what to install is said."""
    result = captures(eth0)
    nothing = replace(
        result,
        case=replace(result.case, matched=None, facts=replace(result.case.facts, sightings=())),
    )

    with pytest.raises(MissingExtra, match=r"podpath\[capture\]"):
        nothing.ladder()
