"""A connection whose opening is not whole in the capture, and that goes on, does not fail."""

from __future__ import annotations

import pytest

from podpath.diagnosis.capture_answer import answer_captures
from tests.checks.made_captures import CLIENT, SERVER, case_of, tcp

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"
CLIENTS = (
    tcp(0, FORTH, "S", 1000),
    tcp(0.1, FORTH, ".", 0, 1),
    tcp(0.2, FORTH, "P.", 1, 1, 80),
    tcp(0.4, FORTH, "F.", 81, 401),
)
SERVERS = (
    tcp(0.05, BACK, "S.", 7, 1001),
    tcp(0.3, BACK, "P.", 1, 81, 400),
    tcp(0.41, BACK, "F.", 401, 82),
)


@pytest.mark.parametrize("lines", [CLIENTS, SERVERS, (*CLIENTS, SERVERS[-1])])
def test_one_direction_that_goes_on_works(lines: tuple[str, ...]) -> None:
    """Data and acknowledgments come from an established connection."""
    assert [False] == [one.fails for one in answer_captures(case_of(*lines)).connections]


@pytest.mark.parametrize(
    "lines",
    [CLIENTS[:1], (CLIENTS[0], CLIENTS[-1]), (CLIENTS[0], tcp(0.05, BACK, ".", 0, 77))],
    ids=["asks", "gives up", "is challenged"],
)
def test_one_that_was_never_established_fails(lines: tuple[str, ...]) -> None:
    """A SYN alone fails, also with the FIN of a client that gives up or an ACK for an older
    connection.
    """
    assert [True] == [one.fails for one in answer_captures(case_of(*lines)).connections]
