"""Who printed a line, and what became of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.messages.endings import ROWS, find_speaker
from podpath.net.messages import MessageKind


def kinds(line: str) -> set[MessageKind]:
    """Return what a line says of its program."""
    return {row.kind for row in ROWS if row.sign in line and row.pattern.search(line)}


@pytest.mark.parametrize(
    ("line", "speaker"),
    [
        ("Mar 02 08:11:01 n1 iptables-restore[612]: line 12 failed", "iptables-restore[612]"),
        ("systemd[1]: Started relayd.service - Relay.", "systemd[1]"),
        ("2026-03-02T08:11:01Z n1 (udev-worker)[77]: eth0: renamed", ""),
        ("nothing of a log", ""),
        ("array[3]=7", ""),
    ],
)
def test_a_line_of_a_log_names_its_speaker(line: str, speaker: str) -> None:
    """By name and number; a line without them names nobody."""
    assert speaker == find_speaker(line)


@given(st.text(max_size=300))
def test_a_speaker_stands_in_its_line(line: str) -> None:
    """No text breaks it."""
    assert find_speaker(line) in line


@pytest.mark.parametrize(
    "line",
    [
        "relayd[77]: received signal SIGTERM, exiting",
        "systemd[1]: relayd.service: Main process exited, code=exited, status=0/SUCCESS",
        "kube-proxy[5]: unable to run iptables-restore: exit status 1",
        "connect(3, {sa_family=AF_INET}, 16) = -1 EINPROGRESS (Operation now in progress)",
    ],
)
def test_an_end_that_somebody_wants_is_none(line: str) -> None:
    """Nor is that of another program, which is started again, or a call that only waits."""
    assert kinds(line) == set()
