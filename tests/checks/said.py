"""What a check finds in a case that holds nothing but some lines."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.checks.finding import Finding
from podpath.checks.registry import run_checks
from podpath.evidence.recognition import read
from podpath.net.provenance import Source


def find_by_lines(name: str | None, *lines: str) -> list[Finding]:
    """Return the findings of one check, or of all, on these lines of a ticket."""
    source = Source(name="ticket.md", lines=lines)
    reading = read(source)
    if reading is None:
        return []
    found = run_checks(assemble_case([(source, reading)]))
    return [one for one in found if name in (None, one.check)]
