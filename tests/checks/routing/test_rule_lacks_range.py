"""Policy rules for what a pod sends to some networks only."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rule_lacks_range import check
from tests.checks.pasted import ticket_of

SAID = "The pod 10.9.1.20 does not answer clients in the peered network 10.50.0.0/16."
RULES = """\
0:	from all lookup local
512:	from all to 10.9.1.20 lookup main
1024:	from all fwmark 0x80/0x80 lookup main
1536:	from 10.9.1.20 to 10.9.0.0/16 lookup 2
32766:	from all lookup main
32767:	from all lookup default
"""


def claims(said: str = SAID, rules: str = RULES) -> list[str]:
    """Return what is claimed of a ticket; it is never certain."""
    text = f"{said}\n\n```\n# ip rule\n{rules}# hostname\nnode1\n```\n"
    found = list(check(ticket_of(text)))
    assert all(one.certainty < 1 and one.asks for one in found)
    return [str(one.claim) for one in found]


@pytest.mark.parametrize(
    "said",
    [
        SAID,
        "Clients 10.50.7.7 get no answer from the pod.",
        "The pod 10.9.1.20 cannot reach 172.31.4.9.",
    ],
)
def test_a_network_without_a_rule(said: str) -> None:
    """A network or an address of one, at either end."""
    (claim,) = claims(said)
    assert claim.startswith("What 10.9.1.20 sends goes to table 2 only if it is for 10.9.0.0/16")


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        (SAID, RULES.replace("32766", "1537:	from 10.9.1.20 to 10.50.0.0/16 lookup 2\n32766")),
        (SAID, RULES.replace("32766", "1600:	from 10.9.1.20 lookup 2\n32766")),
        (SAID, RULES.replace("1536:	from 10.9.1.20", "1536:	from 10.9.1.0/24")),
        ("The pod 10.9.1.20 cannot reach 198.51.100.9.", RULES),
        ("The pod 10.9.1.20 cannot reach 10.9.7.7.", RULES),
        ("The host does not answer 10.50.0.0/16.", RULES),
        ("The pod 10.9.1.20 answers 10.50.0.0/16.", RULES),
    ],
    ids=["ruled", "for-all", "of-many", "public", "near", "no-pod", "works"],
)
def test_what_a_rule_is_for_or_nobody_misses(said: str, rules: str) -> None:
    """Translation to the host's address is meant for the internet."""
    assert not claims(said, rules)
