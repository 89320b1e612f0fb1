"""Agents that take each other's CNI configuration away."""

from __future__ import annotations

from podpath.checks.cni.written_in_turn import check
from tests.checks.pasted import case_of

CILIUM = (
    'level=info msg="Activity in /host/etc/cni/net.d/, re-generating CNI configuration" '
    "subsys=cni-config"
)
MESH = (
    "info\tinstall\tDetect changes to the CNI configuration and binaries, attempt reinstalling..."
)


def test_two_agents_that_write_in_turn() -> None:
    """Each one's line is quoted."""
    (finding,) = check(case_of(f"{CILIUM}\n{CILIUM}\n{MESH}"))

    assert [line.text.split()[0] for line in finding.evidence] == ["level=info", "info"]


def test_two_agents_that_wrote_once() -> None:
    """So they do where one of them is installed: it may be over."""
    (finding,) = check(case_of(f"{CILIUM}\n{MESH}"))

    assert finding.certainty < 1
    assert finding.asks


def test_one_agent_that_writes_alone() -> None:
    """Whoever writes its own file after each change is well as long as nobody else does."""
    assert not list(check(case_of(f"{CILIUM}\n{CILIUM}")))
    assert not list(check(case_of(MESH)))
