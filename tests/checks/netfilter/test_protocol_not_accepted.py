"""Protocols without ports that INPUT drops."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.protocol_not_accepted import check
from tests.checks.pasted import ticket_of

VIP = "Keepalived is master on both hosts, and clients lose connections."
TUNNEL = "Pods on different nodes cannot reach each other, they time out."
RULES = (
    "root@lb1:~# iptables -S INPUT\n"
    "-P INPUT DROP\n"
    "-A INPUT -i lo -j ACCEPT\n"
    "-A INPUT -p tcp -m multiport --dports 22,80,443 -j ACCEPT\n"
)
IPIP = (
    "root@n1:~# ip -d link show tunl0\n"
    "7: tunl0@NONE: <NOARP,UP,LOWER_UP> mtu 1480 qdisc noqueue state UNKNOWN mode DEFAULT\n"
    "    link/ipip 0.0.0.0 brd 0.0.0.0 promiscuity 0\n"
    "    ipip any remote any local any ttl inherit nopmtudisc\n"
)


def _claims(said: str, shown: str) -> list[str]:
    return [str(one.claim) for one in check(ticket_of(f"{said}\n\n```\n{shown}```\n"))]


@pytest.mark.parametrize(
    ("said", "shown", "name"),
    [(VIP, RULES, "VRRP (protocol 112)"), (TUNNEL, IPIP + RULES, "IPIP (protocol 4)")],
)
def test_the_protocol_is_named(said: str, shown: str, name: str) -> None:
    """With its number, which rules may use, too."""
    (claim,) = _claims(said, shown)
    assert name in claim
    assert claim.endswith("DROP.")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (VIP, f"{RULES}-A INPUT -p vrrp -j ACCEPT\n"),
        (VIP, f"{RULES}-A INPUT -d 224.0.0.18/32 -j ACCEPT\n"),
        (VIP, RULES.replace("-P INPUT DROP", "-P INPUT ACCEPT")),
        (VIP.replace("Keepalived", "HAProxy"), RULES),
        (TUNNEL, RULES),
        (TUNNEL, f"{IPIP}{RULES}-A INPUT -p 4 -j ACCEPT\n"),
    ],
    ids=["vrrp", "its group", "open", "another program", "no tunnel", "by number"],
)
def test_what_only_looks_like_it_is_let_be(said: str, shown: str) -> None:
    """Rules that accept it, and hosts that do not need it."""
    assert [] == _claims(said, shown)
