"""Policy rules to a table without a route."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rule_to_empty_table import check
from tests.checks.pasted import ticket_of

SAID = "From other networks 10.60.2.15 is not reached."
RULE = "32765:	from 10.60.2.15 lookup 200"
MAIN = """\
default via 10.60.1.1 dev eth0
10.60.1.0/24 dev eth0 proto kernel scope link src 10.60.1.15
10.60.2.0/24 dev eth1 proto kernel scope link src 10.60.2.15
"""
GONE = "Error: ipv4: FIB table does not exist.\nDump terminated\n"
SHOW = "ip route show table 200"


def certainties(
    said: str = SAID, rule: str = RULE, main: str = MAIN, show: str = SHOW, table: str = ""
) -> list[float]:
    """Return how sure each finding is; what is not certain asks."""
    text = (
        f"{said}\n\n```\n# ip rule\n0:	from all lookup local\n{rule}\n"
        f"32766:	from all lookup main\n32767:	from all lookup default\n"
        f"# {show}\n{table}# ip route\n{main}# hostname\nbox\n```\n"
    )
    found = list(check(ticket_of(text)))
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return [one.certainty for one in found]


def test_what_the_rule_is_for_takes_mains_default() -> None:
    """It prints nothing, or says that there is no such table, by number or name."""
    named = RULE.replace("200", "uplink2")

    assert [1.0] == certainties()
    assert [1.0] == certainties(table=GONE)
    assert [1.0] == certainties(rule=named, show="ip -4 r ls table uplink2")


def test_whose_packets_fail_is_open() -> None:
    """Of a mark no sentence says what has it; main's way out is not shown, or is by the same
    card.
    """
    assert [0.7] == certainties(rule="32765:	from all fwmark 0x1 lookup 200")
    assert [0.9] == certainties(main="10.60.1.0/24 dev eth0 scope link\n")
    assert [0.9] == certainties(main=MAIN.replace("1.1 dev eth0", "2.1 dev eth1"))


@pytest.mark.parametrize(
    ("said", "rule", "show", "table"),
    [
        (SAID, RULE, SHOW, "default via 10.60.2.1 dev eth1\n"),
        (SAID, RULE, "ip route show table 201", ""),
        (SAID, RULE, "ip route show table 200 | grep 8.8", ""),
        (SAID, RULE, "ip -6 route show table 200", ""),
        (SAID, RULE, "ip -6 route show table 200", GONE.replace("ipv4", "ipv6")),
        (SAID, RULE, "ip netns exec blue ip route show table 200", ""),
        (SAID, RULE, f"{SHOW}\n# ip route add default via 10.60.2.1 dev eth1 table 200", ""),
        (SAID, RULE.replace("lookup 200", "lookup main"), "ip route show table main", ""),
        ("From other networks 10.60.1.15 is not reached.", RULE, SHOW, ""),
        ("10.60.2.15 refuses connections from other networks.", RULE, SHOW, ""),
    ],
    ids=[
        "filled",
        "other",
        "a-part",
        "six",
        "none-of-six",
        "namespace",
        "filled-later",
        "main",
        "elsewhere",
        "refused",
    ],
)
def test_a_table_that_has_routes_or_of_which_nothing_is_known(
    said: str, rule: str, show: str, table: str
) -> None:
    """What was asked for is another table or a part of it, or something else fails."""
    assert not certainties(said, rule, show=show, table=table)


def test_a_table_that_was_filled_before_and_is_empty_again() -> None:
    """The later output counts."""
    added = "ip route add default via 10.60.2.1 dev eth1 table 200"

    assert [1.0] == certainties(show=f"{added}\n# {SHOW}")


@pytest.mark.parametrize(("other", "told"), [("elm", True), ("ash", False)])
def test_the_rules_and_the_table_are_those_of_one_host(other: str, *, told: bool) -> None:
    """Another host's table says nothing of what a rule leads to."""
    text = (
        f"{SAID}\n\n```\nroot@elm:~# ip rule\n0:\tfrom all lookup local\n{RULE}\n"
        f"32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"
        f"root@elm:~# ip route\n{MAIN}root@{other}:~# {SHOW}\nroot@{other}:~# hostname\nx\n```\n"
    )

    assert told is bool(list(check(ticket_of(text))))
