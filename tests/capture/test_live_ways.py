"""Healthy conversations of the real kernel that look broken: none shows a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.live_corpus import list_faults
from tests.capture.live_ways import TOOLS, record

pytestmark = pytest.mark.kernel(*TOOLS)
QUICK = ("quic", "keepalive", "dnstcp", "privacy", "reorder", "halfclose", "gateways", "oneway")


def test_healthy_conversations_show_no_fault(tmp_path: Path) -> None:
    """What takes seconds; `python -m tests.capture.live_ways` takes all."""
    found = record(tmp_path, QUICK)

    assert [] == [kind for kind, files in found.items() if len(files) < 2]
    assert {kind: [] for kind in QUICK} == {
        kind: list_faults(files) for kind, files in found.items()
    }
