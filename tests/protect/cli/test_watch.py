"""A part in the foreground: until a signal, and what it says as it changes."""

from __future__ import annotations

import json
import os
import signal

import pytest

from podpath_protect.agent.keeper import AgentFinding, KeeperContext, KeeperStatus
from podpath_protect.cli.watch import run_part

WRONG = AgentFinding(check="order", subject="FORWARD", severity="error", claim="out of order")
LOOKS = (
    KeeperStatus(ready=False, findings=(WRONG,)),
    KeeperStatus(ready=False, findings=(WRONG,)),
    KeeperStatus(ready=True),
)


def look_and_end(context: KeeperContext) -> None:
    """Report three looks, as a keeper does, until SIGTERM comes."""
    for status in LOOKS:
        context.report(status)
    os.kill(os.getpid(), signal.SIGTERM)
    assert () == context.wait(5)


def test_as_text_a_change_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """The second look found the same, and adds nothing."""
    assert run_part(look_and_end, "podpath/watch/v1", as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert ["what is kept does not hold", "error: out of order", "what is kept holds"] == lines


def test_as_json_each_look_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Each says by its schema what it is."""
    run_part(look_and_end, "podpath/watch/v1", as_json=True)
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [False, False, True] == [each["holds"] for each in documents]
    assert {"podpath/watch/v1"} == {each["schema"] for each in documents}
    assert "FORWARD" == documents[0]["findings"][0]["subject"]


def test_signals_are_given_back() -> None:
    """What SIGTERM and SIGINT did before, they do again; a part that fell at its last is told."""
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)

    def fall(context: KeeperContext) -> None:
        context.report(LOOKS[2])
        context.report(LOOKS[0])
        context.stop()

    assert not run_part(fall, "podpath/watch/v1", as_json=True)
    assert before == (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))
