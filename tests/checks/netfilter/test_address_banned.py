"""Addresses that a rule shuts out."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.address_banned import check
from tests.checks.pasted import ticket_of

TEXT = """\
{said}

```
# iptables -S
-P INPUT ACCEPT
-N {chain}
-A INPUT -p tcp {ports}-j {chain}
-A {chain} {rule}
-A {chain} -j RETURN
```
"""
SAID = "My laptop 203.0.113.77 cannot reach the ingress."
BAN = "-s 203.0.113.77/32 -j REJECT --reject-with icmp-port-unreachable"


def certainties(
    said: str = SAID, chain: str = "f2b-nginx", rule: str = BAN, ports: str = ""
) -> list[float]:
    """Return how sure each finding is."""
    text = TEXT.format(said=said, chain=chain, rule=rule, ports=ports)
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(("chain", "certainty"), [("f2b-nginx", 1.0), ("mine", 0.8)])
def test_the_address_that_fails(chain: str, certainty: float) -> None:
    """A chain of bans is certain; another one may not be reached."""
    assert [certainty] == certainties(chain=chain)


@pytest.mark.parametrize(
    "changed",
    [
        {"said": "My laptop 203.0.113.78 cannot reach the ingress."},
        {"said": "My laptop 203.0.113.77 reaches the ingress."},
        {"rule": "-s 203.0.113.0/24 -j REJECT"},
        {"rule": "! -s 203.0.113.77/32 -j REJECT"},
        {"rule": "-s 203.0.113.77/32 -j ACCEPT"},
        {"rule": "-s 203.0.113.77/32 -p tcp -m tcp --dport 22 -j REJECT"},
    ],
    ids=["another", "works", "network", "negated", "accepts", "port"],
)
def test_what_only_looks_like_it_is_let_be(changed: dict[str, str]) -> None:
    """Another address, a whole network, or one port."""
    assert not certainties(**changed)


@pytest.mark.parametrize(
    ("ports", "port", "certainty"),
    [("22", "443", 0.8), ("443", "443", 1.0), ("80,443", "443", 1.0)],
)
def test_a_chain_that_one_port_enters(ports: str, port: str, certainty: float) -> None:
    """A ban from SSH is none from the web."""
    said = f"My laptop 203.0.113.77 cannot reach the ingress on port {port}."
    entry = f"-m multiport --dports {ports} "

    assert [certainty] == certainties(said=said, ports=entry)


def test_a_chain_that_one_port_enters_where_none_is_named() -> None:
    """It may not be reached."""
    assert [0.8] == certainties(ports="-m tcp --dport 22 ")
