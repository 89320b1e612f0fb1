"""Traces by the library."""

from __future__ import annotations

from podpath.library.given import Pasted
from podpath.library.trace import EXIT_CODES, UNDECIDED, TraceResult, trace
from tests.library.samples import NO_FORWARDING, PROBE


def test_verdict_follows_the_walk() -> None:
    """A node that does not forward drops the SYN; the exit code says so."""
    result = trace(NO_FORWARDING, PROBE)

    assert ("NEVER", 1) == (result.verdict, result.exit_code)
    assert "SYN" == result.branches[0].traces[0].name


def test_what_nobody_knows_is_undecided() -> None:
    """Every verdict has an exit code, also one that is new."""
    result = trace(Pasted("10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1\n"), PROBE)

    assert result.exit_code == EXIT_CODES.get(result.verdict, UNDECIDED)
    assert isinstance(result, TraceResult)
    assert result.gaps == ()
