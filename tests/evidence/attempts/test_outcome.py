"""Who tried, and from where."""

from __future__ import annotations

from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt, origin_of
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source


def test_origins() -> None:
    """The namespace of the command, else the host; a text without a command does not say."""
    assert ["pod-a", "host", None] == [
        origin_of(Source(name="x", lines=(), command=command, netns=netns))
        for command, netns in (("curl x", "pod-a"), ("curl x", None), (None, None))
    ]


def test_a_destination_without_an_address() -> None:
    """It is a gap, not an attempt."""
    ledger = LineLedger(Source(name="x", lines=("curl: (28)",)))
    add_attempt(ledger, "curl", (6, None, 80), AttemptOutcome(FailureKind.TIMEOUT, "", 0, 0))
    assert ([], 1) == (ledger.records, len(ledger.gaps))
