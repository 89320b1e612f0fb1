"""Retries that go to the same silent endpoint."""

from __future__ import annotations

import pytest

from podpath.checks.conntrack.retries_stick import check
from podpath.checks.finding import Finding
from tests.checks.pasted import ticket_of


def entry(left: int, backend: str = "10.1.0.68", state: str = "[UNREPLIED] ") -> str:
    """Write a row of `conntrack -L`."""
    return (
        f"udp      17 {left} src=10.1.9.84 dst=10.96.0.10 sport=58165 dport=53 {state}"
        f"src={backend} dst=10.1.9.84 sport=53 dport=58165 mark=0 use=1"
    )


def find(*rows: str) -> list[Finding]:
    """Return what is found in a table that was listed again and again."""
    command = "while sleep 1; do conntrack -L -p udp; done"
    text = "\n".join(rows)
    return list(check(ticket_of(f"Names are not resolved.\n\n```\n$ {command}\n{text}\n```\n")))


def test_an_entry_that_each_retry_renews() -> None:
    """The lines before and after the retry are quoted; whether others answer is asked."""
    (finding,) = find(entry(27), entry(26), entry(25), entry(29))

    assert [span.text.split()[2] for span in finding.evidence] == ["25", "29"]
    assert finding.certainty < 1
    assert finding.asks


@pytest.mark.parametrize(
    "rows",
    [
        (entry(29), entry(28), entry(27)),
        (entry(27, state=""), entry(29, state="")),
        (entry(27, "10.96.0.10"), entry(29, "10.96.0.10")),
        (entry(27), entry(29), entry(28, "10.1.0.67").replace("58165", "4321")),
    ],
    ids=["runs out", "answered", "untranslated", "all silent"],
)
def test_what_no_retry_keeps(rows: tuple[str, ...]) -> None:
    """An entry that only runs out, an answer, no service, or no endpoint that would answer."""
    assert not find(*rows)
