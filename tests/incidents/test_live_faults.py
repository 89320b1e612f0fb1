"""Known faults on the real kernel: each is named from its bundle alone, and its cure brings the
connection back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.diagnosis.forbids import NotShown
from podpath.diagnosis.verdict import Verdict
from podpath.library.diagnosis import diagnose
from podpath.net.probe import Probe
from podpath_lab.incidents.registry import INCIDENTS
from tests.incidents.live_faults import Rehearsed

UNMENDED = ("rejected-service", "duplicate-address", "cni-chain-race")
"""What no change to the host's network mends: a service without endpoints, another's address, a pod
without rules.
"""

WITHOUT_NFT = ("kube-proxy-before-cilium",)
"""Whose bundle leaves native nftables out: they would show the chains that stand in for BPF
programs.
"""

pytestmark = pytest.mark.kernel(
    "ip", "iptables-nft-restore", "iptables-legacy-restore", "conntrack", "ipset", "nft", "sysctl"
)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the folder that the bundles are collected into."""
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def rehearsed(bundles: Path, repository: Path) -> dict[str, Rehearsed]:
    """Live through them all once."""
    program = [sys.executable, "-m", "tests.incidents.live_faults", str(bundles)]
    done = subprocess.run(
        program, cwd=repository, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Rehearsed] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_fault_breaks_is_named_blind_and_is_mended(
    rehearsed: dict[str, Rehearsed], name: str
) -> None:
    """It works, is broken, is named from its bundle, and works again after the commands that the
    diagnosis gives.
    """
    found = rehearsed[name]
    assert found["works"] == "ok"
    assert found["broken"] != "ok"
    assert found["verdict"] == "fault"
    assert found["check"] in INCIDENTS[name].checks
    assert found["mended"] == "ok"
    if name in UNMENDED or INCIDENTS[name].only_mended_by_hand:
        assert found["mended_by"] == "incident"
    else:
        assert found["proven"][0] == "simulated"
        assert found["mended_by"] == "diagnosis"


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_sound_node_is_quiet(rehearsed: dict[str, Rehearsed], bundles: Path, name: str) -> None:
    """Before it broke a connection that one asks about gets the all-clear, where the bundle shows
    all that could decide.
    """
    assert rehearsed[name]["works"] == "ok"
    answer = diagnose(str(bundles / name / "good"), (Probe.parse(INCIDENTS[name].probe),))
    assert answer.findings == ()
    if name in WITHOUT_NFT:
        assert [NotShown] == [type(one) for one in answer.diagnosis.forbids]
    else:
        assert (Verdict.NONE, ()) == (answer.verdict, answer.diagnosis.forbids)


@pytest.mark.parametrize("name", INCIDENTS)
def test_the_sound_node_is_quiet_unasked(
    rehearsed: dict[str, Rehearsed], bundles: Path, name: str
) -> None:
    """Where nobody names a connection nothing is found, and the all-clear rests on connections that
    were walked.
    """
    assert rehearsed[name]["works"] == "ok"
    answer = diagnose(str(bundles / name / "good"))
    assert answer.findings == ()
    assert answer.verdict != Verdict.FAULT
    works = all(conversation.verdict == "ALWAYS" for conversation in answer.conversations)
    assert (answer.verdict == Verdict.NONE) == (
        works and bool(answer.conversations) and name not in WITHOUT_NFT
    )
