"""Base chains of nftables that drop what is forwarded."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.native_forward_drops import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# nft list ruleset
table inet filter {{
        chain forward {{
                type filter hook forward priority filter; policy {policy};
{rules}        }}
        chain mine {{
                {mine}
        }}
}}
```
"""
FAILS = "Docker containers cannot reach the Internet."
REPLIES = "ct state established,related accept"


def _certainties(
    *rules: str, said: str = FAILS, policy: str = "drop", mine: str = "ct state invalid drop"
) -> list[float]:
    lines = "".join(f"                {rule}\n" for rule in rules)
    text = TICKET.format(said=said, policy=policy, rules=lines, mine=mine)
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    "rules",
    [
        (),
        (REPLIES,),
        (REPLIES, 'iifname "lo" accept', "ip protocol icmp accept"),
        ("ct state vmap { established : accept, related : accept, invalid : drop }",),
        (REPLIES, "jump mine"),
        (REPLIES, 'counter log prefix "forward: "'),
    ],
    ids=["none", "replies", "loopback", "map", "jump", "log"],
)
def test_a_chain_without_an_accept_for_new_connections(rules: tuple[str, ...]) -> None:
    """Certain where people say that what the host forwards is cut off."""
    assert [1.0] == _certainties(*rules)


def test_a_last_rule_may_do_it() -> None:
    """Under a policy that accepts."""
    reject = "reject with icmpx admin-prohibited"

    assert [1.0] == _certainties(REPLIES, reject, policy="accept")


def test_what_may_be_forwarded_leaves_it_open() -> None:
    """Nobody says between which ends it fails."""
    assert [0.7] == _certainties(REPLIES, said="Kubernetes: it times out since the update.")


@pytest.mark.parametrize(
    "changed",
    [
        {"rules": (REPLIES, 'iifname "docker0" accept')},
        {"rules": (REPLIES, "ct status dnat accept")},
        {"rules": (REPLIES, "jump mine"), "mine": "ip saddr 172.17.0.0/16 accept"},
        {"rules": (REPLIES, "jump elsewhere")},
        {"rules": (REPLIES,), "policy": "accept"},
        {"rules": (REPLIES,), "said": "Docker containers reach the Internet."},
        {"rules": (REPLIES,), "said": "The host itself cannot reach the Internet."},
    ],
    ids=["device", "published", "inner", "unseen", "policy", "works", "host"],
)
def test_what_only_looks_like_it_is_let_be(changed: dict[str, object]) -> None:
    """Something may be accepted, or nothing is forwarded."""
    rules = changed.pop("rules")
    words = {name: str(value) for name, value in changed.items()}

    assert isinstance(rules, tuple)
    assert [] == _certainties(*rules, **words)


@pytest.mark.parametrize(
    "rules",
    [
        ('iif "enp0s25" oif "wlan0" accept',),
        ("tcp dport 2234-2240 accept", 'iifname "eth1" udp dport 53 accept'),
    ],
    ids=["devices", "ports"],
)
def test_a_router_that_accepts_for_its_cards_alone(rules: tuple[str, ...]) -> None:
    """Containers come in by another device."""
    assert [1.0] == _certainties(REPLIES, *rules)


@pytest.mark.parametrize(
    "rule", ["udp dport 53 accept", 'iifname "br-*" accept', 'oifname "eth0" accept']
)
def test_a_router_that_may_accept_it(rule: str) -> None:
    """A port of those that everybody needs, a bridge, or the way out."""
    assert not _certainties(REPLIES, rule)
