"""What forbids the all-clear, as values: a reason has the lines that it stands on, each once."""

from __future__ import annotations

from podpath.diagnosis.forbids import RestsOnInference
from podpath.net.probe import Probe
from podpath.net.provenance import Basis, Inferred
from tests.checks.nodes import span

PROBE = Probe.parse("tcp 10.0.0.1:5000 > 10.0.0.2:80")


def test_guesses_quote_the_lines_that_they_were_concluded_from() -> None:
    """A guess that was concluded from nothing quotes nothing."""
    line = span("10.0.0.1 dev lxc1")
    sources = (line, None, line)
    guesses = tuple(Inferred(Basis.GUESSED, "no output shows it", source) for source in sources)
    assert (line,) == RestsOnInference(probe=PROBE, guesses=guesses).spans
