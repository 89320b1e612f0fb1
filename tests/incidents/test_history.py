"""A fault on the node joined with the logs beside it: pasted into the ticket, in the bundle, as
files, and live.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import podpath

LOG = """\
Nov 22 00:31:20 db-host-3 systemd[1]: Started Session 411 of user root.
Nov 22 00:33:38 db-host-3 yum[3312]: Updated: polkit-0.112-26.el7_9.1.x86_64
Nov 22 00:33:41 db-host-3 systemd[1]: Stopping Dynamic System Tuning Daemon...
Nov 22 00:33:45 db-host-3 systemd[1]: Started Authorization Manager.
Nov 22 00:33:47 db-host-3 systemd[1]: Started Dynamic System Tuning Daemon.
Nov 22 00:40:01 db-host-3 CROND[4201]: (root) CMD (/usr/lib64/sa/sa1 1 1)
"""
CLIENT = """\
I1122 00:33:43.100000       1 leader.go:280] got the leader's lease: success
W1122 00:33:59.115335       1 leader.go:286] Get https://192.168.77.11:6443/api?timeout=10s: context deadline exceeded
W1122 00:34:10.115335       1 leader.go:286] Get https://192.168.77.11:6443/api?timeout=10s: context deadline exceeded
"""  # noqa: E501
CLAIM = "What set it: tuned started, 2.1 s before the first failing request began."
TIMES = ("--failed-at", "00:33:59", "--timeout", "10s", "--last-ok", "00:33:43")


@pytest.fixture
def incident(repository: Path) -> Path:
    """Provide the folder of the recorded incident."""
    return repository / "examples" / "incidents" / "rp-filter-reset"


def diagnose(*arguments: str | Path) -> dict[str, Any]:
    """Run the command, which has to find a fault, and give its document."""
    done = podpath("diagnose", *arguments, "--json")
    assert 1 == done.returncode, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def check_history(document: dict[str, Any], log: str, claim: str = CLAIM) -> None:
    """Look at the cause: it is told with its history, and the lines of the log are its evidence."""
    cause = document["findings"][0]
    quoted = {(Path(line["source"]).name, line["text"]) for line in cause["evidence"]}

    assert ("rp-filter", "cause") == (cause["check"], cause["severity"])
    assert cause["claim"].endswith(claim)
    assert ["polkit is upgraded", "polkit restarts"] == [
        text[10:].partition(" (")[0] for text in cause["history"][:2]
    ]
    assert (log, LOG.splitlines()[4]) in quoted
    assert (log, LOG.splitlines()[1]) in quoted


def test_logs_pasted_into_the_ticket(incident: Path, tmp_path: Path) -> None:
    """The ticket with two logs in it names tuned and how long before the first failing request it
    was, without being told when.
    """
    text = (incident / "ticket.md").read_text(encoding="utf-8")
    pasted = (
        f"On the node:\n\n```\n$ grep 00:3 /var/log/messages\n{LOG}\n"
        f"$ kubectl -n orders logs pg-main-0\n{CLIENT}```\n\n"
    )
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        text.replace("The only thing that happened", f"{pasted}The only thing that happened"),
        encoding="utf-8",
    )

    check_history(diagnose(ticket), "ticket.md")


def test_logs_in_the_bundle(incident: Path, tmp_path: Path) -> None:
    """A bundle's logs are read, and the year that they leave out is that of the bundle."""
    bundle = tmp_path / "bundle"
    shutil.copytree(incident / "bundle", bundle)
    (bundle / "logs").mkdir()
    (bundle / "logs" / "messages").write_text(LOG, encoding="utf-8")
    (bundle / "logs" / "pg-main-0.log").write_text(CLIENT, encoding="utf-8")

    check_history(diagnose(bundle), "messages")


def test_logs_beside_the_bundle(incident: Path, tmp_path: Path) -> None:
    """A log given as a file of its own is joined; the times may be said on the command line."""
    log = tmp_path / "messages"
    log.write_text(LOG, encoding="utf-8")

    check_history(
        diagnose(incident / "bundle", log, *TIMES), "messages", CLAIM.replace("2.1 s", "2 s")
    )


def test_without_the_sysctl_the_logs_weigh(incident: Path, tmp_path: Path) -> None:
    """Where the ticket lacks the sysctl it stays undecided and asks for it, but the cause that the
    logs lead to gains.
    """
    text = (
        (incident / "ticket.md")
        .read_text(encoding="utf-8")
        .partition("The only thing that happened")[0]
    )
    pasted = (
        f"On the node:\n\n```\n$ grep 00:3 /var/log/messages\n{LOG}\n"
        f"$ kubectl -n orders logs pg-main-0\n{CLIENT}```\n"
    )
    shares = []
    for name, body in (("bare.md", text), ("logs.md", text + pasted)):
        (tmp_path / name).write_text(body, encoding="utf-8")
        done = podpath("diagnose", tmp_path / name, "--json")
        document = json.loads(done.stdout)
        first = next(finding for finding in document["findings"] if finding["severity"] == "cause")
        assert (3, "rp-filter") == (done.returncode, first["check"])
        assert "rp_filter" in document["unknowns"][0]["ask"]
        shares.append(first["certainty"])

    assert shares[0] < shares[1] < 1


def test_the_good_twin_stays_good(incident: Path, tmp_path: Path) -> None:
    """On a node without the fault the same log accuses nothing: the restart is a note, and no
    all-clear is given unseen.
    """
    log = tmp_path / "messages"
    log.write_text(LOG, encoding="utf-8")
    done = podpath("diagnose", incident / "good", log, *TIMES, "--json")
    document = json.loads(done.stdout)

    assert 3 == done.returncode
    assert [] == [
        finding for finding in document["findings"] if finding["severity"] in {"cause", "fault"}
    ]
    assert any("tuned started, 2 s before" in note for note in document["notes"])
