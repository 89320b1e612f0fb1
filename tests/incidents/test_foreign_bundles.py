"""Bundles of other tools, of a real kernel's node with one fault planted: it is named, and no
namespace or host is merged.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.diagnosis.verdict import Verdict
from tests.incidents.blind_world import PODS
from tests.incidents.foreign_bundles import PLANTED, Planted, Seen

pytestmark = pytest.mark.kernel(
    "ip",
    "bridge",
    "iptables-nft-restore",
    "iptables-legacy-restore",
    "iptables-xml",
    "nft",
    "sysctl",
)
INSIDE = frozenset({"sosreport", "aks", "kubeskoop"})
"""Kinds that hold the namespaces of pods; the others show the host's alone."""
CASES = pytest.mark.parametrize("planted", PLANTED, ids=[planted.kind for planted in PLANTED])


@pytest.fixture(scope="module")
def judged(
    tmp_path_factory: pytest.TempPathFactory, repository: Path
) -> dict[str, dict[str, Seen]]:
    """Build every bundle and read it, once."""
    program = [
        sys.executable,
        "-m",
        "tests.incidents.foreign_bundles",
        str(tmp_path_factory.mktemp("foreign")),
    ]
    done = subprocess.run(
        program, cwd=repository, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Seen]] = json.loads(done.stdout)
    return found


@CASES
def test_the_planted_fault_is_named(judged: dict[str, dict[str, Seen]], planted: Planted) -> None:
    """The first lines of the answer name what was planted, as a cause or as the first
    possibility.
    """
    seen = judged[planted.kind]["bad"]
    assert seen["named"], seen["first"]
    assert seen["faults"]


@CASES
def test_a_healthy_twin_names_nothing(judged: dict[str, dict[str, Seen]], planted: Planted) -> None:
    """The bundle of a node that only looks alike holds no fault."""
    seen = judged[planted.kind]["good"]
    assert seen["faults"] == []
    assert seen["verdict"] in {Verdict.NONE, Verdict.POSSIBLE}


@CASES
def test_no_namespace_and_no_host_is_merged(
    judged: dict[str, dict[str, Seen]], planted: Planted
) -> None:
    """Each node of a bundle is one, and each namespace of it has its own addresses and no
    other's.
    """
    found = judged[planted.kind]["bad"]["addresses"]
    assert len(found) == len(planted.nodes)
    assert set(found) == (set(planted.nodes) if len(planted.nodes) > 1 else {""})
    for spaces in found.values():
        pods = {
            name.rpartition("/")[2]: addresses
            for name, addresses in spaces.items()
            if name != "host"
        }
        assert pods == (
            {name: [address] for name, address in PODS.items()} if planted.kind in INSIDE else {}
        )
        assert set(spaces["host"]) <= {"10.244.1.0", "10.244.1.1", "192.168.50.11"}
        assert "192.168.50.11" in spaces["host"]
