"""Attempts of a case: what failed, where, and in which state."""

from __future__ import annotations

import pytest

from podpath.net.failures import Ending, FailureKind, Result
from podpath.net.probe import Probe
from podpath.net.provenance import Source, Span
from podpath.node.case import Attempt

SPAN = Span(Source(name="ticket.md", lines=("curl: (28) timed out",)), 1, 1)


@pytest.mark.parametrize(
    ("result", "good", "failed", "bad"),
    [
        (Ending.OK, False, False, False),
        (Ending.INTERRUPTED, False, False, False),
        (FailureKind.TIMEOUT, False, True, True),
        (FailureKind.TIMEOUT, True, False, False),
        (FailureKind.NAME_UNKNOWN, False, False, True),
    ],
)
def test_what_failed(result: Result, good: bool, failed: bool, bad: bool) -> None:  # noqa: FBT001  # columns of a table
    """A try fails on the way, or by its answer; on a good node, or after the cure, it counts for
    neither.
    """
    attempt = Attempt(
        probe=Probe.parse("tcp 10.0.0.1 > 10.0.0.2:80"), result=result, span=SPAN, good=good
    )

    assert (failed, bad) == (attempt.failed, attempt.is_bad)
