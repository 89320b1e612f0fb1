"""What native chains at the hook `forward` do with a connection of known devices."""

from __future__ import annotations

import pytest

from podpath.checks.forwarded import DevicePath, Family
from podpath.checks.nft_forward import find_forward_refusal, find_named_refusal
from podpath.net import protocols
from tests.checks.pasted import ticket_of

CHAIN = """\
```
# nft list ruleset
table ip filter {{
	chain FORWARD {{
		type filter hook forward priority filter; policy drop;
		ct state established,related accept
{rules}	}}
}}
```
"""
OUT = DevicePath(Family.DOCKER, None)


def refusal(*rules: str, route: DevicePath = OUT, port: int = 443) -> str | None:
    """Return how a TCP connection is refused; None where nothing refuses it for sure."""
    lines = "".join(f"\t\t{rule}\n" for rule in rules)
    host = ticket_of(CHAIN.format(rules=lines)).node.host
    found = find_forward_refusal(host, route, protocols.TCP, port)
    return None if found is None else found.target


@pytest.mark.parametrize(
    "rule",
    [
        'iif "enp0s25" oif "wlan0" accept',
        'iifname "virbr0" accept',
        "tcp dport 2234-2240 accept",
        'iifname "eth1" tcp dport { 80, 443 } accept',
        'oifname "docker0" accept',
    ],
)
def test_what_is_for_others_is_no_accept(rule: str) -> None:
    """Another device, another engine's, another port, or the other direction."""
    assert "drop" == refusal(rule)


@pytest.mark.parametrize(
    "rule",
    [
        'iifname "docker0" accept',
        'iifname "br-*" accept',
        'iifname "mybridge" accept',
        'iifname { "eth1", "docker0" } accept',
        'oifname "eth0" accept',
        "ip saddr 172.17.0.0/16 accept",
        "tcp dport 443 accept",
        "jump unseen",
    ],
)
def test_what_may_accept_it_leaves_it_open(rule: str) -> None:
    """Names that may be the bridge's, addresses, and chains that are not shown."""
    assert refusal(rule) is None


def test_a_connection_to_a_container() -> None:
    """It comes in by a card and leaves by the bridge."""
    route = DevicePath(None, Family.DOCKER)

    assert "drop" == refusal('iifname "docker0" accept', route=route)
    assert refusal('iifname "eth0" oifname "docker0" accept', route=route) is None


def test_a_reject_is_told_as_one() -> None:
    """It takes everything that is left."""
    assert "reject" == refusal('iif "eth0" accept', "reject with icmpx admin-prohibited")


@pytest.mark.parametrize(
    ("rule", "refused"),
    [
        ('iifname "vpn0" oifname "lan0" accept', True),
        ('iifname "ctr0" accept', False),
        ('iifname "ctr*" accept', False),
        ('oifname "lan0" accept', False),
        ('iifname != "vpn0" accept', False),
    ],
)
def test_a_device_that_is_named(rule: str, refused: bool) -> None:  # noqa: FBT001
    """Where it leaves is not known, so a rule for where it goes may accept it."""
    host = ticket_of(CHAIN.format(rules=f"\t\t{rule}\n")).node.host

    assert refused == (find_named_refusal(host, "ctr0", protocols.TCP, 443) is not None)
