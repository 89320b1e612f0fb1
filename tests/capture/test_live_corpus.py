"""Healthy captures of the real kernel, of ten kinds that mislead: none shows a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.live_corpus import KINDS, TOOLS, list_false_doubts, list_faults, record

pytestmark = pytest.mark.kernel(*TOOLS)


def test_healthy_captures_show_no_fault(tmp_path: Path) -> None:
    """One load of three; `python -m tests.capture.live_corpus` takes all. Nor is any packet said to
    be missing where tcpdump dropped none.
    """
    found = record(tmp_path, ("mixed",))

    assert len(KINDS) == len(found) == 10
    assert {kind: [] for kind in KINDS} == {
        kind: list_faults(files) for (_, kind), files in found.items()
    }
    assert [] == [doubt for files in found.values() for doubt in list_false_doubts(files)]
