"""A line that has nothing to do with what fails convicts nobody; the same line convicts where it
has.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import podpath
from podpath.checks.finding import WEIGHTY
from podpath.library.given import Pasted


def read_tickets(name: str) -> list[tuple[str, str]]:
    """Read a file of tickets: each behind a line with its heading."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    parts = re.split(r"^=== ", text, flags=re.MULTILINE)[1:]
    return [(heading, ticket) for heading, _, ticket in (part.partition("\n") for part in parts)]


NEAR_MISSES = dict(read_tickets("near_misses.txt"))


def sure(text: str) -> list[str]:
    """Return the faults of a ticket that are certain."""
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings
    return [one.check for one in found if one.severity in WEIGHTY and one.certainty == 1]


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_only_looks_like_the_fault_convicts_nobody(name: str) -> None:
    """Whatever is found in it is possible only, and nothing is cleared."""
    assert [] == sure(NEAR_MISSES[name])
    assert "none" != podpath.diagnose(Pasted(NEAR_MISSES[name], "ticket.md")).verdict


@pytest.mark.parametrize(("check", "ticket"), read_tickets("convicted.txt"))
def test_the_fault_itself_is_certain(check: str, ticket: str) -> None:
    """The same as in a near miss, with the fact that this lacks."""
    assert [check] == sure(ticket)


REFUSED = (
    "2024-01-08 09:00:00 nginx[7]: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)"
)
DENIED = "client @0x7f1 10.1.0.9#4443 (db.shop): query (cache) 'db.shop/A/IN' denied"
FULL = "postgres[311]: FATAL:  sorry, too many clients already"
CERTIFICATE = "app[9]: dial 10.0.5.20:5432: x509: certificate has expired or is not yet valid"


@pytest.mark.parametrize(
    ("prose", "line", "check"),
    [
        ("Nobody can connect to 10.0.0.9 port 80: connection refused.", REFUSED, "port-taken"),
        ("Pods cannot resolve db.shop.", f"named[8]: {DENIED}", "names-refused"),
        ("The shop answers with an error 500.", FULL, "connections-exhausted"),
        ("Pod web does not reach 10.0.5.20:5432.", CERTIFICATE, "certificate-refused"),
        ("It does not work.", CERTIFICATE, "certificate-refused"),
    ],
)
def test_the_same_lines_convict_where_they_are_about_what_fails(
    prose: str, line: str, check: str
) -> None:
    """By the failure, or by an end of it; or where nobody says what fails."""
    assert [check] == sure(f"{prose}\n\n```\n{line}\n```\n")


def test_an_end_in_the_next_line_of_an_entry_counts() -> None:
    """Logs break their entries over lines."""
    entry = "app[9]: x509: certificate has expired or is not yet valid\n  while calling 10.0.5.20"

    assert sure(f"Pod web does not reach 10.0.5.20:5432.\n\n```\n{entry}\n```\n")
