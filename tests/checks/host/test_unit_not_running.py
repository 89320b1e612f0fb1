"""Units that do not run where something fails."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.host.unit_not_running import check
from tests.checks.pasted import ticket_of

STATUS = """
{complaint}

```
$ systemctl status {unit}
● {unit}.service - A server
     Loaded: loaded (/lib/systemd/system/{unit}.service; {enabled}; vendor preset: enabled)
     Active: {active}
    Process: 811 ExecStart=/usr/sbin/{unit} (code={code})
   Main PID: 811 (code={code})
```
"""


def findings(
    complaint: str,
    active: str = "inactive (dead) since Tue 2023-05-02 10:11:12 UTC; 3h ago",
    code: str = "killed, signal=TERM",
    unit: str = "squid",
    enabled: str = "enabled",
) -> list[Finding]:
    """Return what is found in a ticket with one unit's status."""
    text = STATUS.format(complaint=complaint, active=active, code=code, unit=unit, enabled=enabled)
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(
    "complaint",
    [
        "The clients get connection refused from squid on port 3128.",
        "Containers cannot reach the Squid proxy any more.",
        "Since this morning squid.service does not answer.",
    ],
)
def test_a_stopped_unit_that_the_complaint_names_is_likely(complaint: str) -> None:
    """The state and the sentence are both quoted."""
    (found,) = findings(complaint)

    assert 0.9 == found.certainty
    assert 2 == len(found.evidence)


@pytest.mark.parametrize(
    ("complaint", "active", "code"),
    [
        ("Clients time out.", "inactive (dead)", "killed, signal=TERM"),
        ("Clients time out.", "failed (Result: exit-code) since Tue", "exited, status=1/FAILURE"),
        ("The squid refuses.", "failed (Result: exit-code) since Tue", "exited, status=1/FAILURE"),
        ("The squid refuses.", "inactive (dead)", "exited, status=0/SUCCESS"),
        (
            "Nobody gets an answer.",
            "activating (auto-restart) (Result: exit-code) since Tue",
            "exited, status=1/FAILURE",
        ),
    ],
)
def test_a_unit_that_failed_or_is_not_named_is_possible(
    complaint: str, active: str, code: str
) -> None:
    """Why it failed is another question, and what ran once need not run."""
    (found,) = findings(complaint, active, code)

    assert found.certainty < 0.9
    assert "squid" in found.asks[0].command


@pytest.mark.parametrize(
    ("complaint", "active", "code", "enabled"),
    [
        ("The squid refuses.", "active (running) since Tue", "exited, status=0/SUCCESS", "enabled"),
        ("The squid refuses.", "active (exited) since Tue", "exited, status=0/SUCCESS", "enabled"),
        ("All is well.", "inactive (dead)", "killed, signal=TERM", "enabled"),
        ("Clients time out.", "inactive (dead)", "exited, status=0/SUCCESS", "static"),
    ],
)
def test_a_unit_that_runs_or_need_not_is_none(
    complaint: str, active: str, code: str, enabled: str
) -> None:
    """A healthy unit, a ticket without a complaint, and a unit that has done its work."""
    assert not findings(complaint, active, code, enabled=enabled)


def test_the_last_state_counts() -> None:
    """A unit that runs again is no cause."""
    text = STATUS.format(
        complaint="The squid refuses.", active="inactive (dead)", code="killed, signal=TERM",
        unit="squid", enabled="enabled",
    ) + STATUS.format(
        complaint="", active="active (running) since Tue", code="exited, status=0/SUCCESS",
        unit="squid", enabled="enabled",
    )  # fmt: skip
    assert not list(check(ticket_of(text)))


def test_a_unit_that_could_not_be_found_is_possible() -> None:
    """Its name alone stands in the output."""
    text = (
        "The chronyd does not start.\n\n```\n$ systemctl status chronyd\n"
        "Unit chronyd.service could not be found.\n```\n"
    )
    (found,) = check(ticket_of(text))

    assert 0.6 == found.certainty


def test_a_unit_that_is_off_on_purpose_is_no_fault() -> None:
    """It is disabled, and no sentence that says what fails names it."""
    assert not findings("Clients time out.", enabled="disabled")
    assert findings("Clients time out.", "failed (Result: exit-code) since Tue", enabled="disabled")
    assert findings("The squid refuses.", enabled="disabled")
