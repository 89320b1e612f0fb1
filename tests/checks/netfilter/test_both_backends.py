"""Two flavors of iptables of which one drops."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Severity
from podpath.checks.netfilter.both_backends import check
from tests.checks.pasted import ticket_of

LOST = "Pods cannot reach pods of other nodes."
LISTED = "```\n$ {tool} -t filter -L FORWARD\nChain FORWARD (policy {policy})\n...\n```\n"


def certainties(prose: str, *listed: tuple[str, str]) -> list[float]:
    """Return how sure the faults of a ticket with these listings are."""
    shown = "\n".join(LISTED.format(tool=tool, policy=policy) for tool, policy in listed)
    found = check(ticket_of(f"{prose}\n\n{shown}"))
    return [one.certainty for one in found if one.severity is Severity.FAULT]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("iptables", "DROP"), ("iptables-legacy", "ACCEPT")),
        (("iptables", "ACCEPT"), ("iptables-legacy", "DROP")),
        (("iptables-nft", "DROP"), ("iptables-legacy", "ACCEPT")),
        (("iptables", "DROP"), ("iptables-nft", "ACCEPT")),
    ],
)
def test_one_flavor_drops_and_the_other_accepts(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Possible, since the one that drops may accept by a rule that is not shown."""
    assert [0.7] == certainties(LOST, one, other)
    assert [0.7] == certainties(LOST, other, one)


@pytest.mark.parametrize(
    ("prose", "listed"),
    [
        (LOST, [("iptables", "DROP"), ("iptables-legacy", "DROP")]),
        (LOST, [("iptables", "DROP")]),
        (LOST, [("iptables", "ACCEPT"), ("iptables-legacy", "ACCEPT")]),
        ("The pods work.", [("iptables", "DROP"), ("iptables-legacy", "ACCEPT")]),
    ],
)
def test_one_policy_or_nothing_lost(prose: str, listed: list[tuple[str, str]]) -> None:
    """The same in both, one flavor alone, and nobody who misses anything."""
    assert [] == certainties(prose, *listed)
