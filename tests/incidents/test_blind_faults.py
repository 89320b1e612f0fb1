"""Live faults that nobody points at: each is named in the first three lines of the answer to a
snapshot, and its twin is not.

Six are lived through here; all of them are by `python -m tests.incidents.blind_faults FOLDER`,
which takes some minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.diagnosis.verdict import Verdict
from tests.incidents.blind_faults import FAULTS, Seen

CHOSEN = (
    "untracked-pods",
    "forwarding-off-on-bridge",
    "policy-rule-prohibits",
    "tunnel-entry-lost",
    "arp-off-in-pod",
    "dns-dropped",
    "masquerade-lost",
)
"""One of each area: a sysctl, a policy rule, a tunnel, a neighbour, a rule that drops,
translation.
"""

pytestmark = pytest.mark.kernel(
    "ip", "bridge", "iptables-nft-restore", "iptables-legacy-restore", "conntrack", "nft", "sysctl"
)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> dict[str, Seen]:
    """Live through the chosen ones once."""
    program = [
        sys.executable,
        "-m",
        "tests.incidents.blind_faults",
        str(tmp_path_factory.mktemp("blind")),
        *CHOSEN,
    ]
    done = subprocess.run(
        program, cwd=repository, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Seen] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CHOSEN)
def test_the_fault_is_named_unasked_and_its_twin_is_quiet(
    lived: dict[str, Seen], name: str
) -> None:
    """The kernel fails the connection where the fault is and carries it where the twin is; the
    answers say the same.
    """
    seen = lived[name]
    assert seen["fails"]
    assert seen["named"], seen["first"]
    assert seen["verdict"] in {Verdict.FAULT, Verdict.POSSIBLE}
    assert (Verdict.NONE, []) == (seen["twin_verdict"], seen["twin_findings"])


def test_every_fault_has_a_twin_of_its_own() -> None:
    """The names are different, and so is what is done to the two nodes."""
    assert len(FAULTS) == len({fault.name for fault in FAULTS})
    assert all(fault.broken_by != fault.twin for fault in FAULTS)
