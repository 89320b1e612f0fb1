"""What native chains at the hook `input` do with a new connection to a port."""

from __future__ import annotations

import pytest

from podpath.checks.nft_input import find_refusal
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.net import protocols

BASE = """\
table inet filter {{
	set ports {{
		type inet_service
		elements = {{ 8443, 9000-9100 }}
	}}
	chain input {{
		type filter hook input priority filter; policy {policy};
		iif "lo" accept
		ct state established,related accept
		tcp dport {{ 22, 80 }} accept
		{rule}
	}}
	chain inner {{
		{inner}
	}}
}}
"""


def refused(port: int, rule: str = "", policy: str = "drop", inner: str = "") -> str | None:
    """Return how such a connection is refused; None where nothing refuses it for sure."""
    text = BASE.format(policy=policy, rule=rule, inner=inner)
    case = read_together([Pasted(f"```\n# nft list ruleset\n{text}```\n", "ticket.md")]).facts
    found = find_refusal(case.node.host, protocols.TCP, port)
    return f"{found.target} {found.how}".strip() if found is not None else None


def test_the_policy_takes_what_nothing_accepts() -> None:
    """A port that a rule names is accepted."""
    assert refused(9100) == "drop"
    assert refused(80) is None
    assert refused(9100, policy="accept") is None


@pytest.mark.parametrize(
    "rule",
    [
        "tcp dport 8000-9200 accept",
        "tcp dport @ports accept",
        "ip saddr 10.0.0.0/8 accept",
        'iifname "eth1" accept',
        "ct state new accept",
        "meta l4proto tcp accept",
        "th dport 9100 accept",
        "tcp dport vmap { 9100 : accept }",
        "tcp dport != 25 accept",
        "jump elsewhere",
        "tcp dport @unknown accept",
        "limit rate 5/second accept",
        "queue num 0",
    ],
)
def test_whatever_may_accept_it_leaves_it_open(rule: str) -> None:
    """By port, source, device, state, protocol, map, chain or limit."""
    assert refused(9100, rule) is None


@pytest.mark.parametrize(
    ("rule", "policy", "expected"),
    [
        ("udp dport 9100 accept", "drop", "drop"),
        ("icmp type echo-request accept", "drop", "drop"),
        ("meta l4proto { icmp, ipv6-icmp } accept", "drop", "drop"),
        ("tcp dport != 9100 accept", "drop", "drop"),
        ("ct state vmap { established : accept, invalid : drop }", "drop", "drop"),
        ("ct state vmap { new : drop }", "accept", "drop"),
        ("counter reject with icmpx admin-prohibited", "accept", "reject admin-prohibited"),
        ("tcp dport 9100 reject with tcp reset", "accept", "reject tcp reset"),
        ("reject", "accept", "reject port"),
        ("ip saddr 10.0.0.0/8 drop", "accept", None),
        ('iifname "eth1" reject', "accept", None),
    ],
)
def test_rules_are_for_it_or_not(rule: str, policy: str, expected: str | None) -> None:
    """What is for other packets is passed; what refuses only some of them refuses nothing."""
    assert refused(9100, rule, policy) == expected


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("tcp dport 9100 accept", None),
        ("return", "drop"),
        ("drop", "drop"),
        ("reject", "reject port"),
    ],
)
def test_chains_are_followed(inner: str, expected: str | None) -> None:
    """A chain that returns leaves it to the policy."""
    assert refused(9100, "jump inner", inner=inner) == expected
    maybe = refused(9100, 'iifname "eth1" jump inner', "accept", inner)
    assert maybe is None
