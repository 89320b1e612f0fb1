"""Files of rules that are loaded before what they name exists."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.rules_too_early import check
from tests.checks.pasted import ticket_of

REFUSED = "/etc/nftables.conf:31:26-33: Error: Could not process rule: No such file or directory"
LATER = "Later, by hand, the same file loads without any error."


def ticket(line: str, prose: str) -> str:
    """Write a ticket about a firewall that is empty after a boot."""
    return f"The firewall is empty after each boot.\n\n```\n{line}\n```\n\n{prose}\n"


def test_a_file_that_loads_later() -> None:
    """The refusal and the sentence are quoted, and the file is named."""
    (finding,) = check(ticket_of(ticket(REFUSED, LATER)))

    assert finding.certainty == 1
    assert [one.text for one in finding.evidence] == [REFUSED, LATER]
    assert str(finding.claim).startswith("/etc/nftables.conf is loaded before")


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        (REFUSED, "It is refused by hand, too."),
        ("/etc/nftables.conf:3:5-9: Error: syntax error, unexpected string", LATER),
        ("nft: ruleset loaded", LATER),
        ("/etc/nftables.conf:3:5-9: Error: unknown identifier 'lan_if'", LATER),
    ],
)
def test_a_file_that_is_wrong(line: str, prose: str) -> None:
    """What is refused at any time, or for its syntax, was not too early."""
    assert not list(check(ticket_of(ticket(line, prose))))
