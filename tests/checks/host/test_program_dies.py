"""A program that ends by itself."""

from __future__ import annotations

import pytest

from podpath.checks.host.program_dies import check
from tests.checks.pasted import ticket_of

CRASHING = "The pod crashes again and again, and its port refuses."
LINES = (
    'invalid value "" for flag -retentionPeriod: duration cannot be empty',
    '2024/04/03 10:26:14 [emerg] 137#137: "proxy_pass" directive is duplicate in /tmp/cfg:822',
    "standard_init_linux.go:228: exec user process caused: exec format error",
    '{"level": "fatal", "message": "unknown storage engine tsm2"}',
    "Error: unknown flag: --cloud-provider",
    "panic: a route for /metrics is already registered",
)


@pytest.mark.parametrize("line", LINES)
def test_a_fatal_line_of_a_program_that_stays_down_is_certain(line: str) -> None:
    """The line is quoted first."""
    (found,) = check(ticket_of(f"{CRASHING}\n\n```\n$ kubectl logs store-0\n{line}\n```\n"))

    assert (1.0, line) == (found.certainty, found.evidence[0].text.strip())


@pytest.mark.parametrize("line", LINES)
def test_a_fatal_line_alone_is_possible(line: str) -> None:
    """It may be of last week; the question says what tells."""
    (found,) = check(
        ticket_of(f"A client gets no answer.\n\n```\n$ kubectl logs store-0\n{line}\n```\n")
    )

    assert (0.6, 1) == (found.certainty, len(found.asks))


def test_plugins_have_a_page_of_their_own() -> None:
    """An agent of the network is no application."""
    text = f"{CRASHING}\n\n```\n$ kubectl logs calico-node-v64fv\nSIGABRT: abort\n```\n"

    assert [] == list(check(ticket_of(text)))
