"""Losses that a rule plants on the real kernel are found on their hop, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.live_losses import SCENARIOS, TOOLS, judge, record

pytestmark = pytest.mark.kernel(*TOOLS)
FEW = ("SYN-cni1-flannel1", "data-u2-flannel2", "UDP-cni2-flannel2")
"""A few of the fifty; `python -m tests.capture.live_losses` plants all."""


def test_each_loss_is_found_on_its_hop(tmp_path: Path) -> None:
    """As many as the rule dropped, between the points that it stands between."""
    some = [scenario for scenario in SCENARIOS if scenario.name in FEW]
    tmp_path.chmod(0o755)
    record(tmp_path, some)
    found = {scenario: judge(tmp_path, scenario) for scenario in some}

    assert (3, 50) == (len(some), len(SCENARIOS))
    assert {} == {
        scenario.name: one for scenario, one in found.items() if not one.is_right(scenario)
    }
