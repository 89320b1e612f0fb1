"""The reset of rp_filter on the real kernel, with the logs of node and client beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import podpath

pytestmark = pytest.mark.kernel("ip", "iptables-nft-restore", "conntrack", "sysctl", "logger")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """Live through it once, and give the folder with what is left."""
    folder = tmp_path_factory.mktemp("history")
    program = [sys.executable, "-m", "tests.incidents.live_history", str(folder)]
    done = subprocess.run(
        program, cwd=repository, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_timeline_finds_the_window_and_the_chain(lived: Path) -> None:
    """From the two logs alone: the last success, when the first failing request began, and tuned in
    between.
    """
    done = podpath("timeline", lived / "messages", lived / "client.log", "--json")
    document = json.loads(done.stdout)
    window, chain = document["window"], document["chains"][0]

    assert (1, "polkit-tuned-sysctl") == (done.returncode, chain["chain"])
    assert window["last_ok"] < chain["links"][-1]["time"] < window["began"] < window["failed_at"]
    assert window["timeout"] > 0
    assert [2, 3, 4] == [link["evidence"]["line"] for link in chain["links"]]


def test_the_diagnosis_joins_fact_and_history(lived: Path) -> None:
    """The bundle's rp_filter is the cause, and the log says what set it, and that it was before the
    first failing request.
    """
    done = podpath(
        "diagnose",
        lived / "bundle",
        lived / "messages",
        lived / "client.log",
        "--probe",
        "tcp 10.1.0.2 > 198.51.100.1:80 from pod1",
        "--json",
    )
    cause = json.loads(done.stdout)["findings"][0]

    assert (1, "rp-filter") == (done.returncode, cause["check"])
    assert "What set it: tuned started" in cause["claim"]
    assert cause["claim"].endswith("before the first failing request began.")
    assert any(
        line["text"].endswith("Started Dynamic System Tuning Daemon.") for line in cause["evidence"]
    )
    assert any(line["text"].endswith("rp_filter = 1") for line in cause["evidence"])
