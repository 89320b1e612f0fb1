"""Policy rules for single pods."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rule_lacks_address import check
from tests.checks.pasted import ticket_of

RULES = """\
0:	from all lookup local
512:	from all to 10.7.4.160 lookup main
512:	from all to 10.7.4.83 lookup main
512:	from all to 10.7.4.89 lookup main
1536:	from 10.7.4.160 lookup 3
32766:	from all lookup main
32767:	from all lookup default
"""


def certainties(said: str, rules: str = RULES) -> list[float]:
    """Return how sure each finding is."""
    text = f"{said}\n\n```\n$ ip rule list\n{rules}$ hostname\nnode1\n```\n"
    return [one.certainty for one in check(ticket_of(text))]


def test_a_pod_without_a_rule() -> None:
    """Others have theirs."""
    assert [0.9] == certainties("The pod 10.7.2.69 cannot reach anything.")


@pytest.mark.parametrize(
    "said",
    [
        "The pod 10.7.4.83 cannot reach anything.",
        "Pods cannot reach 192.168.1.1.",
        "The pod 10.7.2.69 works.",
    ],
    ids=["has-one", "elsewhere", "works"],
)
def test_an_address_that_needs_none(said: str) -> None:
    """It has a rule, is of another network, or does not fail."""
    assert not certainties(said)


def test_a_node_without_such_rules() -> None:
    """Two rules of an admin are no plugin's habit."""
    rules = "".join(RULES.splitlines(keepends=True)[:3])

    assert not certainties("The pod 10.7.2.69 cannot reach anything.", rules)


AMAZON = """\
0:	from all lookup local
512:	from all to 10.7.4.160 lookup main
1024:	from all fwmark 0x80/0x80 lookup main
1536:	from 10.7.4.160 lookup 3
32766:	from all lookup main
32767:	from all lookup default
"""
BOTH = "Pods 10.7.4.160 and 10.7.4.77 of one node do not reach each other."
OWN = "$ ip -br addr\nlo UNKNOWN 127.0.0.1/8\neth0 UP 10.7.4.5/24\n"


def test_one_pod_shows_the_habit_of_amazons_plugin() -> None:
    """It marks by 0x80; two pods that are said to be of one node are both of this one, and where
    its own addresses are shown, neither is on its network.
    """
    assert [0.9] == certainties("The pod 10.7.4.77 cannot reach anything.", AMAZON)
    assert [0.9] == certainties(BOTH, AMAZON)
    assert [1.0] == certainties(BOTH, AMAZON + OWN)
    assert [0.9] == certainties(BOTH, AMAZON + OWN.replace("addr", "addr show dev eth0"))


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ("Pods 10.7.4.160 and 10.7.9.77 do not reach each other.", AMAZON),
        (BOTH, AMAZON + OWN.replace("4.5/", "4.77/")),
        (BOTH, AMAZON.replace("32766", "512:	from all to 10.7.4.77 lookup main\n32766")),
        (BOTH.replace("4.160", "4.161"), AMAZON),
        (BOTH, AMAZON.replace("0x80/0x80", "0x1")),
    ],
    ids=["two-nodes", "host-network", "has-one", "neither", "no-habit"],
)
def test_a_pod_that_needs_no_rule_here(said: str, rules: str) -> None:
    """It may run elsewhere or on the host's network, or has its rule."""
    assert not certainties(said, rules)
