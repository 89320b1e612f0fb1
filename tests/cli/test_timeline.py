"""`podpath timeline`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import podpath
from tests.timeline.samples import CLIENT, MESSAGES
from tests.timeline.test_documents import TICKET

WINDOW = (
    "--failed-at",
    "03:13:59",
    "--timeout",
    "10s",
    "--last-ok",
    "03:13:39",
    "--now",
    "2025-03-20T12:00:00Z",
)


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    """Provide a file of the node's log."""
    path = tmp_path / "messages"
    path.write_text(MESSAGES, encoding="utf-8")
    return path


def test_the_chain_is_named(messages: Path) -> None:
    """The log and the three times name the chain, with exit code 1."""
    done = podpath("timeline", messages, *WINDOW)

    assert (1, "") == (done.returncode, done.stderr)
    assert "polkit is upgraded" in done.stdout
    assert (
        "messages:8 | Mar 12 03:13:47 kn-04 systemd[1]: Started Dynamic System Tuning Daemon."
        in done.stdout
    )
    assert "2 s before the first failing request began" in done.stdout


def test_zones_by_name(messages: Path, tmp_path: Path) -> None:
    """The node's log is of local time, the container's of UTC: both are placed, and the window
    found in the container's.
    """
    client = tmp_path / "client.log"
    client.write_text(CLIENT.replace("0312 03:1", "0311 19:1"), encoding="utf-8")
    done = podpath(
        "timeline", messages, client, "--zone", "Asia/Shanghai", "--zone", "client=UTC", "--json"
    )
    document = json.loads(done.stdout)

    assert (1, "polkit-tuned-sysctl") == (done.returncode, document["chains"][0]["chain"])
    assert document["window"]["failed_by"]["source"] == str(client)


def test_a_picture_is_drawn(messages: Path, tmp_path: Path) -> None:
    """--svg writes the picture beside the answer; where it cannot, that is said."""
    picture = tmp_path / "t.svg"
    done = podpath("timeline", messages, *WINDOW, "--svg", picture)

    assert (1, "<svg") == (done.returncode, picture.read_text(encoding="utf-8")[:4])
    assert 2 == podpath("timeline", messages, *WINDOW, "--svg", tmp_path).returncode


def test_a_ticket_is_searched_for_logs(tmp_path: Path) -> None:
    """Logs that are pasted into a ticket are read where they stand."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text(TICKET, encoding="utf-8")
    done = podpath("timeline", ticket)

    assert 1 == done.returncode
    assert "ticket.md:24 | Mar 12 03:13:47" in done.stdout


def test_undecided_without_a_failure(messages: Path) -> None:
    """Where no failure is known it asks for one, with exit code 3."""
    done = podpath("timeline", messages)

    assert 3 == done.returncode
    assert "--failed-at" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--failed-at", "noon"), "expected a moment such as"),
        (("--failed-at", "03:13:59", "--timeout", "long"), "expected a span of time"),
        (("--zone", "Nowhere/City"), "expected a zone such as"),
        (("--zone", "../etc/passwd"), "expected a zone such as"),
        (("--now", "x"), "expected a moment such as"),
    ],
)
def test_bad_options_are_told(messages: Path, arguments: tuple[str, ...], message: str) -> None:
    """What cannot be read is one clear line, and exit code 2."""
    done = podpath("timeline", messages, *arguments)

    assert 2 == done.returncode
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_without_a_log(tmp_path: Path) -> None:
    """A file that is no log is refused with what is expected."""
    path = tmp_path / "notes.txt"
    path.write_text("nothing to see here\n", encoding="utf-8")
    done = podpath("timeline", path)

    assert 2 == done.returncode
    assert "expected logs such as /var/log/messages" in done.stderr
