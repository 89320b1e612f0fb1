"""`podpath fleet` as a command that is killed, and called again."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from podpath_fleet.store import JOURNAL, read_journal
from tests.fleet.made import NODES


def test_a_run_that_is_killed_goes_on(bundles: Path, tmp_path: Path) -> None:
    """After `kill -9` the same command reads what has no row yet, and nothing twice."""
    options = ["--out", str(tmp_path), "--jobs", "1"]
    command = [sys.executable, "-m", "podpath", "fleet", str(bundles), *options]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    journal = tmp_path / JOURNAL
    until = time.monotonic() + 120
    while time.monotonic() < until and first.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= 2:
            break
        time.sleep(0.02)
    first.kill()
    first.wait()
    before = journal.read_bytes()
    again = subprocess.run(command, check=False, capture_output=True, text=True)

    assert again.returncode == 1
    assert "done before" in again.stderr
    assert journal.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert len([row["path"] for row in read_journal(str(tmp_path))]) == NODES + 1
    assert journal.read_bytes().count(b"\n") == NODES + 1
