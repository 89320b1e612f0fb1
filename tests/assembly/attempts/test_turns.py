"""The same command with two results."""

from __future__ import annotations

import pytest

from tests.checks.pasted import case_of

FAILS = """\
$ nc -zv 192.168.10.5 5432
nc: connect to 192.168.10.5 port 5432 (tcp) failed: No route to host
"""
WORKS = """\
$ nc -zv 192.168.10.5 5432
Connection to 192.168.10.5 5432 port [tcp/postgresql] succeeded!
"""
OTHER = WORKS.replace("192.168.10.5", "192.168.10.6")
STOP = "$ systemctl stop firewalld\n"
LOOK = "$ systemctl status firewalld\n"


def turns(text: str) -> list[tuple[bool, list[str]]]:
    """Return each turn: whether it is a cure, and the commands between."""
    return [(one.is_cure, [command for command, _ in one.changes]) for one in case_of(text).turns]


def test_a_command_between_failure_and_success() -> None:
    """It cured what failed."""
    assert [(True, ["systemctl stop firewalld"])] == turns(FAILS + STOP + WORKS)


def test_a_command_between_success_and_failure() -> None:
    """It broke what worked."""
    assert [(False, ["ufw enable"])] == turns(WORKS + "$ ufw enable\n" + FAILS)


@pytest.mark.parametrize(
    "text",
    [FAILS + WORKS, FAILS + LOOK + WORKS, STOP + FAILS + WORKS, FAILS + STOP + OTHER, FAILS + STOP],
    ids=["nothing", "looked", "before", "another", "no-second"],
)
def test_what_turns_nothing(text: str) -> None:
    """No change stands between two results of one command."""
    assert not turns(text)


def test_the_last_two_runs_count() -> None:
    """What was typed before the first of them is no part of it."""
    text = FAILS + "$ systemctl restart docker\n" + FAILS + STOP + WORKS

    assert [(True, ["systemctl stop firewalld"])] == turns(text)
