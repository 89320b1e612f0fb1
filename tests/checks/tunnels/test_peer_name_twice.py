"""Two nodes with one name in an overlay."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.peer_name_twice import check
from tests.checks.pasted import ticket_of

LINE = "INFO: 2016/09/30 10:26:2{second}.533466 Our name is {name}({host})\n"


def ticket(name: str, host: str) -> str:
    """Return a ticket with the logs of two nodes."""
    first = LINE.format(second=1, name="92:64:f5:c5:57:a7", host="box1")
    return (
        f"Pods get one address.\n\n```\n{first}{LINE.format(second=5, name=name, host=host)}```\n"
    )


def test_one_name_of_two_hosts() -> None:
    """Both lines are quoted."""
    (finding,) = check(ticket_of(ticket("92:64:f5:c5:57:a7", "box2")))

    assert (1.0, 2) == (finding.certainty, len(finding.evidence))


@pytest.mark.parametrize(
    ("name", "host"), [("92:64:f5:c5:57:a8", "box2"), ("92:64:f5:c5:57:a7", "box1")]
)
def test_names_of_their_own_and_a_restart_are_healthy(name: str, host: str) -> None:
    """An agent that starts twice says its name twice."""
    assert not list(check(ticket_of(ticket(name, host))))
