"""Commands that give up since somebody else holds the lock of iptables."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

import pytest

from podpath.checks.netfilter.xtables_lock import GAVE_UP, WAITS, check
from tests.checks.pasted import found, ticket_of

LOCKED = "Another app is currently holding the xtables lock. Perhaps you want to use the -w option?"
STOPPED = "Another app is currently holding the xtables lock. Stopped waiting after 5s."
WAITING = (
    "Another app is currently holding the xtables lock; still 9s 0us time ahead to have a chance "
    "to grab the lock..."
)


@pytest.mark.parametrize(
    "holder",
    [
        "/run/xtables.lock:   root       4121 F.... iptables-restore",
        "iptables-restore 4121 root 3rW REG 0,24 0 812 /run/xtables.lock",
        "iptables-restore  4121 FLOCK   0B WRITE 0     0   0 /run/xtables.lock",
    ],
)
@pytest.mark.parametrize("said", [LOCKED, STOPPED, WAITING])
def test_who_holds_it_is_named(said: str, holder: str) -> None:
    """By its line, which is quoted first."""
    (finding,) = check(ticket_of(f"It fails.\n\n```\n{said}\n# fuser x\n{holder}\n```\n"))

    assert 1.0 == finding.certainty
    assert holder == finding.evidence[0].text.strip()
    assert "iptables-restore (process 4121)" in str(finding.claim)


def test_a_command_that_gave_up_with_its_exit_status() -> None:
    """Its own line says that its rule is missing, whoever had the lock."""
    text = f"open[604]: {LOCKED}\nopen[604]: iptables -A INPUT -j ACCEPT: exit 4"

    assert [(1.0, f"open[604]: {LOCKED}")] == found(check, text)
    assert [(GAVE_UP, f"open[604]: {LOCKED}")] == found(
        check, text.replace("open[604]: i", "b[7]: i")
    )
    assert [(GAVE_UP, STOPPED)] == found(check, STOPPED)


def test_a_command_that_waits_may_get_it() -> None:
    """Where its end is shown and good, nothing was lost."""
    assert [(WAITS, WAITING)] == found(check, WAITING)
    assert [] == found(check, f"open[604]: {WAITING}\nopen[604]: iptables -w 10 -A INPUT: exit 0")


def test_a_holder_alone_is_daily_life() -> None:
    """Somebody always writes rules."""
    assert [] == found(check, "/run/xtables.lock:   root       4121 F.... iptables-restore")


@pytest.mark.kernel("iptables-legacy", "unshare")
def test_iptables_gives_up_with_four(tmp_path: Path) -> None:
    """After the time that it was given."""
    lock = tmp_path / "xtables.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        command = f"XTABLES_LOCKFILE={lock} exec iptables-legacy -w 1 -S"
        done = subprocess.run(
            ["unshare", "-n", "sh", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )

    assert done.returncode == 4
    assert "holding the xtables lock. Stopped waiting after 1s." in done.stderr
