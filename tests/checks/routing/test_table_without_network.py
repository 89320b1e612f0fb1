"""Policy rules whose table lacks a network that main has."""

from __future__ import annotations

import pytest

from podpath.checks.routing.table_without_network import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from tests.checks.pasted import ticket_of

SAID = "Clients of 192.168.10.0/24 cannot reach 198.51.100.7, they time out."
RULES = """\
0:	from all lookup local
32765:	from 198.51.100.7 lookup 200
32766:	from all lookup main
32767:	from all lookup default
"""
MAIN = """\
default via 203.0.113.1 dev eth0
192.168.10.0/24 dev eth2 proto kernel scope link src 192.168.10.1
198.51.100.0/24 dev eth1 proto kernel scope link src 198.51.100.7
"""
TABLE = "default via 198.51.100.1 dev eth1\n"
LAN = "192.168.10.0/24 dev eth2 scope link\n"


def certainty(
    said: str = SAID, rules: str = RULES, table: str = TABLE, show: str = "ip route show table 200"
) -> float | None:
    """Return how certain the finding of a ticket is; None where there is none."""
    text = f"{said}\n\n```\n# ip rule\n{rules}# ip route\n{MAIN}# {show}\n{table}```\n"
    found = list(check(read_together([Pasted(text, "ticket.md")]).facts))
    assert all("lookup 200" in one.evidence[0].text for one in found)
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return found[0].certainty if found else None


@pytest.mark.parametrize(
    "said",
    [
        SAID,
        "198.51.100.7 does not answer 192.168.10.44.",
        "From 192.168.10.3 the address 198.51.100.7 is unreachable.",
        "Machines in 192.168.10.0/24 get no reply from 198.51.100.7.",
        "Pings from 192.168.10.9 to 198.51.100.7 are lost.",
    ],
)
def test_the_tables_default_takes_what_main_alone_knows(said: str) -> None:
    """Certain where people name both ends."""
    assert certainty(said) == 1


def test_one_end_leaves_it_possible() -> None:
    """The source that answers is not said."""
    assert certainty("Clients of 192.168.10.0/24 cannot reach our second address.") == 0.6
    assert certainty(rules=RULES.replace("from 198.51.100.7", "from all fwmark 0x1")) == 0.6
    assert certainty(show="ip route show table 200 | grep default") == 0.6


@pytest.mark.parametrize(
    ("said", "rules", "table"),
    [
        (SAID, RULES, TABLE + LAN),
        (SAID, RULES, TABLE + "192.168.0.0/16 via 192.168.10.2 dev eth2\n"),
        (SAID, "100:	from all to 192.168.0.0/16 lookup main\n" + RULES, TABLE),
        (SAID, "100:	from all lookup main suppress_prefixlength 0\n" + RULES, TABLE),
        (SAID, RULES, LAN),
        ("203.0.113.99 cannot reach 198.51.100.7.", RULES, TABLE),
        ("Clients of 192.168.10.0/24 reach 198.51.100.7.", RULES, TABLE),
        ("Clients of 192.168.10.0/24 are refused by 198.51.100.7.", RULES, TABLE),
    ],
)
def test_what_the_table_knows_or_nobody_misses_is_let_be(said: str, rules: str, table: str) -> None:
    """The network in the table or a wider one, main asked first, no default, other ends."""
    assert certainty(said, rules, table) is None


SAYS = "10.2.0.9 does not answer the LAN (192.168.88.0/24 on lan0)."
WAN = "200:	from 10.2.0.9 lookup wan2\n32766:	from all lookup main\n"
ONLY = "default via 10.2.0.1 dev wan2\n"


def said_certainty(said: str = SAYS, table: str = ONLY, grep: str = "") -> float | None:
    """Return how certain it is where a sentence alone tells of the network."""
    text = (
        f"{said}\n\n```\n# ip rule\n0:	from all lookup local\n{WAN}"
        f"# ip route show table wan2{grep}\n{table}# hostname\nbox\n```\n"
    )
    found = list(check(read_together([Pasted(text, "ticket.md")]).facts))
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return found[0].certainty if found else None


def test_a_sentence_tells_where_the_network_is() -> None:
    """By its device, which the table's default does not use."""
    assert said_certainty() == 1
    assert said_certainty("10.2.0.9 times out from 192.168.88.0/24, which is behind lan1.") == 1
    assert said_certainty(grep=" | grep default") == 0.6


@pytest.mark.parametrize(
    ("said", "table"),
    [
        (SAYS, ONLY + "192.168.88.0/24 dev lan0 scope link\n"),
        (SAYS.replace("lan0", "wan2"), ONLY),
        (SAYS.replace("10.2.0.9", "10.2.0.8"), ONLY),
        (SAYS.replace(" on lan0", ""), ONLY),
        (SAYS.replace("192.168.88.0/24", "10.2.0.0/24"), ONLY),
    ],
    ids=["listed", "same-device", "other-source", "nowhere", "its-own"],
)
def test_a_sentence_that_does_not_tell_it(said: str, table: str) -> None:
    """The table has it, its default leads there, or the rule is for another source."""
    assert said_certainty(said, table) is None


def test_a_route_by_another_gateway_of_the_same_device_is_not_found_either() -> None:
    """The table's default takes it to its own gateway; the same gateway would do as well."""
    text = """\
Packets that come from 172.19.0.0/24 do not reach 10.60.0.0/16.

```
# ip route show table all
default via 172.19.0.1 dev eth3 table lan3 proto static
10.60.0.0/16 via {gateway} dev eth3
172.19.0.0/24 dev eth3 proto kernel scope link src 172.19.0.3
# ip rule
0:	from all lookup local
32760:	from 172.19.0.0/24 lookup lan3
32766:	from all lookup main
32767:	from all lookup default
```
"""
    (found,) = check(ticket_of(text.format(gateway="172.19.0.2")))

    assert ("lan3", "10.60.0.0/16") == found.marks
    assert [] == list(check(ticket_of(text.format(gateway="172.19.0.1"))))
