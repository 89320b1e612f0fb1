"""The logs of a node in a bundle."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from podpath.collect.namespaces import CollectedNamespace
from podpath.collect.node_logs import collect_logs, read_end
from podpath.collect.snapshot import collect_bundle
from tests.command import podpath
from tests.timeline.samples import MESSAGES


def test_files_of_a_folder(tmp_path: Path) -> None:
    """Histories of packages are taken, and syslog where there is no journal; a link is not
    followed.
    """
    (tmp_path / "apt").mkdir()
    (tmp_path / "apt" / "history.log").write_text(
        "Start-Date: 2025-03-12  09:48:58\n", encoding="utf-8"
    )
    (tmp_path / "messages").write_text(MESSAGES, encoding="utf-8")
    (tmp_path / "yum.log").symlink_to("/etc/hostname")
    found = dict(collect_logs(tmp_path))

    assert "apt-history.log" in found
    assert "yum.log" not in found
    assert ("messages" in found) is ("journal.txt" not in found)


def test_the_end_of_a_long_log(tmp_path: Path) -> None:
    """Of a log that is too long the last whole lines are taken."""
    path = tmp_path / "messages"
    path.write_text("first\n" + "second\n" * 10, encoding="utf-8")

    assert [b"second\n", path.read_bytes(), b""] == [
        read_end(path, 10),
        read_end(path, 1000),
        read_end(tmp_path / "none"),
    ]


@pytest.mark.kernel("logger", "dmesg")
def test_a_snapshot_has_logs_and_the_timeline_reads_them(tmp_path: Path) -> None:
    """A snapshot of this machine holds what dmesg and dpkg say here, and `podpath timeline` reads
    it; logs can be left out.
    """
    host = (CollectedNamespace(name="host", path="/proc/self/ns/net", role="host"),)
    target = tmp_path / "bundle"
    collect_bundle(target, host, now=time.time(), logs=True)
    if not (target / "logs").is_dir():
        pytest.skip("this machine has no logs")
    done = podpath(
        "timeline", target, "--failed-at", "2000-01-01T00:00:00Z", "--timeout", "1s", "--json"
    )
    document = json.loads(done.stdout)

    assert done.returncode in {0, 1, 3}
    assert document["logs"] == len(list((target / "logs").iterdir()))
    assert document["lines"] > 0
    collect_bundle(tmp_path / "without", host, now=time.time())
    assert not (tmp_path / "without" / "logs").exists()


@pytest.mark.kernel("logger")
def test_lines_as_logger_makes_them(tmp_path: Path) -> None:
    """What logger(1) prints in each of its protocols is read as the event that it was told."""
    for options in ((), ("--rfc3164",), ("--rfc5424=notq",)):
        shown = subprocess.run(
            ("logger", "-n", "127.0.0.1", "-P", "9", "-d", "--no-act", "--stderr", *options,
             "-t", "tuned", "static tuning from profile 'x' applied"),
            capture_output=True, text=True, check=True,
            env={"PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C"},
        ).stderr  # fmt: skip
        path = tmp_path / "messages"
        path.write_text(shown, encoding="utf-8")
        done = podpath(
            "timeline", path, "--failed-at", f"@{time.time() + 2:.0f}", "--timeout", "1s", "--json"
        )
        suspects = json.loads(done.stdout)["suspects"]

        assert ["tuned"] == [suspect["subject"] for suspect in suspects], (options, shown)


def test_no_program_is_needed(tmp_path: Path) -> None:
    """Where a folder has no logs nothing of it is taken."""
    names = {name for name, _ in collect_logs(tmp_path)}

    assert names <= {"journal.txt", "dmesg.txt", "rpm-last.txt"}
    assert ("rpm-last.txt" in names) <= (shutil.which("rpm") is not None)
