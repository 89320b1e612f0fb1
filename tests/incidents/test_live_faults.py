"""Known faults built on the real kernel: each is named from its bundle, its cure is proven, and the sound node is quiet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podpath.cli.case import read_case
from podpath.diagnosis.diagnose import diagnose
from podpath.lab.incidents.incident import Incident
from podpath.net.probe import Probe
from tests.incidents.live_faults import INCIDENTS

UNPROVEN = ("rejected-service", "duplicate-address")
"""Faults that no change to the node's network mends: a service without endpoints, a pod with another's address."""
BY_TRAFFIC = ("stale-conntrack",)
"""Faults that are left by traffic, which these bundles have none of."""
NAMED = [incident for incident in INCIDENTS if incident.name not in BY_TRAFFIC]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """Build them all once."""
    folder = tmp_path_factory.mktemp("faults")
    program = [sys.executable, "-m", "tests.incidents.live_faults", str(folder)]
    done = subprocess.run(program, cwd=repository, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.kernel("ip", "iptables-nft-restore", "iptables-legacy-restore", "conntrack", "ipset", "nft", "sysctl")
@pytest.mark.parametrize("incident", NAMED, ids=lambda incident: incident.name)
def test_the_fault_is_named_and_its_cure_is_proven(recorded: Path, incident: Incident) -> None:
    """Asked about the connection that fails, podpath names one of the faults that may rightly be named first."""
    probe = Probe.parse(incident.probe)
    answer = diagnose(read_case([str(recorded / incident.name / "bad")], (probe,)), (probe,))
    assert answer.verdict == "fault"
    assert answer.findings[0].check in incident.checks
    if incident.name not in UNPROVEN:
        assert [repair.proven for repair in answer.findings[0].repairs] == ["simulated"]


@pytest.mark.kernel("ip", "iptables-nft-restore", "iptables-legacy-restore", "conntrack", "ipset", "nft", "sysctl")
@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_the_sound_node_is_quiet(recorded: Path, incident: Incident) -> None:
    """Before it broke there is nothing to find, whether one asks about a connection or not."""
    probe = Probe.parse(incident.probe)
    sound = str(recorded / incident.name / "good")
    for asked in ((probe,), ()):
        answer = diagnose(read_case([sound], asked), asked)
        assert ("none", ()) == (answer.verdict, answer.findings)
