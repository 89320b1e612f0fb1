"""Logs to a chronicle."""

from __future__ import annotations

import re
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from podpath.timeline.build import ToldFailure
from podpath.timeline.clock import Clock
from podpath.timeline.moments import parse_moment
from tests.timeline.samples import CLIENT, MESSAGES, at, chronicle, logs

SEED = Path(__file__).resolve().parents[3] / "shared" / "seeds"


def test_the_window_and_the_chain_of_a_node_and_its_client() -> None:
    """From two logs alone: the window with both ends, the chain that ends in it, and the
    verdict.
    """
    found = chronicle(MESSAGES, CLIENT)
    window = found.window
    assert window is not None

    assert (at("03:13:49.815335"), 10.0) == (round(window.began, 6), window.timeout)
    assert ("found", 1, "polkit-tuned-sysctl") == (
        found.verdict,
        found.exit_code,
        found.stories[0].chain.name,
    )
    assert ("tuned", "started") == (found.suspects[0].mark.subject, found.suspects[0].mark.verb)
    assert found.covered


def test_what_the_user_says_goes_first() -> None:
    """Moments that are given make the window; what the logs have at that moment tells the timeout
    that is not given.
    """
    given = chronicle(
        MESSAGES, CLIENT, told=ToldFailure(failed_at=at("03:14:11"), last_ok=at("03:13:39"))
    )
    window = given.window
    assert window is not None

    assert (10.0, at("03:14:01"), 3) == (
        window.timeout,
        window.began,
        window.failed_by and window.failed_by.line,
    )


def test_nothing_changed() -> None:
    """A log that reaches over the window and has nothing in it says so: exit code 0."""
    quiet = "\n".join(
        f"Mar 12 03:{minute}:00 kn-04 sshd[1]: Accepted publickey for ops"
        for minute in range(10, 30)
    )
    found = chronicle(
        quiet, told=ToldFailure(failed_at=at("03:20:30"), timeout=10, last_ok=at("03:19:30"))
    )

    assert ("none", 0, True) == (found.verdict, found.exit_code, found.covered)


def test_a_log_that_does_not_reach_decides_nothing() -> None:
    """A log that ends before the window leaves it undecided, and the question asks for the rest."""
    found = chronicle(
        MESSAGES, told=ToldFailure(failed_at=at("09:00:00"), timeout=10, last_ok=at("08:59:00"))
    )

    assert ("possible", 3) == (found.verdict, found.exit_code)
    assert any("do not cover" in question for question in found.questions)


def test_without_a_failure_it_asks() -> None:
    """Where no log tells of a failure and nobody says when it was, chains are only possible, and it
    asks for the moment.
    """
    found = chronicle(MESSAGES)

    assert (None, 3, "polkit-tuned-sysctl") == (
        found.window,
        found.exit_code,
        found.stories[0].chain.name,
    )
    assert "--failed-at" in found.questions[0]


def test_the_timeout_is_asked_for() -> None:
    """Without the timeout the first failing request may have begun any time before, and that is
    said.
    """
    found = chronicle(MESSAGES, told=ToldFailure(failed_at=at("03:13:59")))

    assert any("--timeout" in question for question in found.questions)
    assert any("--last-ok" in question for question in found.questions)


def test_failures_after_the_window_are_kept() -> None:
    """The failures of the logs stand in the chronicle, the first ones."""
    assert [2, 3] == [event.span.line for event in chronicle(MESSAGES, CLIENT).symptoms]


def test_many_events_are_cut() -> None:
    """A window full of restarts keeps what is shown within bounds."""
    many = "\n".join(
        f"Mar 12 03:13:4{number % 9} n systemd[1]: Started unit-{number}." for number in range(2000)
    )
    found = chronicle(
        many, told=ToldFailure(failed_at=at("03:13:59"), timeout=5, last_ok=at("03:13:39"))
    )

    assert len(found.marked) <= 400
    assert len(found.suspects) <= 40


@pytest.mark.skipif(
    not list(SEED.glob("002_*")), reason="the reported incident is not on this machine"
)
def test_the_reported_incident() -> None:
    """The report's times make its window: failed after 10 s, the first failing request began two
    seconds after the restart.
    """
    text = next(SEED.glob("002_*")).read_text(encoding="utf-8")
    times = re.findall(r"9:\d\d:\d\d", text)
    restart, failed, began, good = times[0], times[1], times[2], times[3]
    timeout = float(re.findall(r"timeout\D{1,3}(\d+)", text)[-1])
    clock = Clock(now=at("12:00:00", "2022-02-14"), zone=timezone(timedelta(hours=8)))
    lines = (
        "Feb 11 09:48:41 n-120 yum[7]: Updated: polkit-0.112-26.el7_9.1.x86_64\n"
        "Feb 11 09:48:59 n-120 systemd[1]: Stopping Authorization Manager...\n"
        f"Feb 11 0{restart} n-120 systemd[1]: Started Dynamic System Tuning Daemon.\n"
        "Feb 11 09:50:01 n-120 CROND[1]: (root) CMD (true)"
    )
    reach = logs(lines, clock=clock).reach
    moments = {
        name: parse_moment(text, clock, reach)
        for name, text in (("failed", failed), ("good", good), ("began", began))
    }
    found = chronicle(
        lines,
        clock=clock,
        told=ToldFailure(failed_at=moments["failed"], timeout=timeout, last_ok=moments["good"]),
    )
    story = found.stories[0]

    assert (moments["began"], 2.0) == (found.window.began if found.window else 0, story.before)
    assert ("polkit-tuned-sysctl", "rp-filter", 1) == (
        story.chain.name,
        story.chain.leads[0].check,
        found.exit_code,
    )


def test_a_zone_that_several_share_is_asked_for() -> None:
    """The question names the log, the name and what it may stand for."""
    found = chronicle("2025-03-12 11:13:45 CST [7] ERROR: canceled")

    assert any("is CST UTC-6 or UTC+8?" in question for question in found.questions)
