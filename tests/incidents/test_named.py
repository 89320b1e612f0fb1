"""Short tickets with a decisive line or two: the check that they are about names the cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import podpath
from podpath.checks.finding import WEIGHTY
from podpath.library.given import Pasted

_TEXT = (Path(__file__).parent / "named.txt").read_text(encoding="utf-8")
_PARTS = re.split(r"^=== ", _TEXT, flags=re.MULTILINE)[1:]
TICKETS = dict(part.split("\n", 1) for part in _PARTS)


@pytest.mark.parametrize("name", TICKETS)
def test_the_cause_is_named(name: str) -> None:
    """It comes first, is certain, and quotes a line of the ticket."""
    first = podpath.diagnose(Pasted(TICKETS[name], "ticket.md")).findings[0]

    assert (name.partition(":")[0], 1.0) == (first.check, first.certainty)
    assert first.severity in WEIGHTY
    assert first.evidence
