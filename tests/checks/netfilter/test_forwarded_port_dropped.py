"""A rule of FORWARD or DOCKER-USER for the very port that fails."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.forwarded_port_dropped import check
from tests.checks.pasted import ticket_of

NAMES = "Containers cannot resolve names."
PORT = "Pods cannot connect to 203.0.113.9 port 5432, it times out."
DROP = "-A DOCKER-USER -p udp -m udp --dport 53 -j DROP"
SMTP = "-A FORWARD -p tcp -m tcp --dport 5432 -j REJECT --reject-with icmp-port-unreachable"


def judge(prose: str, *rules: str) -> list[float]:
    """Return how certain each finding is."""
    listed = "\n".join(("$ iptables -S", *rules))
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n```\n{listed}\n```\n"))]


def test_the_rule_and_the_sentence_are_quoted() -> None:
    """With the command that deletes the rule."""
    listed = f"$ iptables -S DOCKER-USER\n-N DOCKER-USER\n{DROP}\n-A DOCKER-USER -j RETURN"
    (found,) = check(ticket_of(f"{NAMES}\n\n```\n{listed}\n```\n"))

    assert (1.0, DROP) == (found.certainty, found.evidence[0].text)
    assert NAMES == found.evidence[1].text.strip()
    assert ("iptables -D DOCKER-USER 1",) == found.repairs[0].commands


@pytest.mark.parametrize(
    ("prose", "rules", "expected"),
    [
        (NAMES, ["-A FORWARD -i docker0 -p udp --dport 53 -j DROP"], [1.0]),
        (NAMES, ["-A FORWARD -p udp -m multiport --dports 53,123 -j DROP"], [1.0]),
        (PORT, [SMTP.replace("REJECT --reject-with icmp-port-unreachable", "DROP")], [1.0]),
        (NAMES, ["-A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT", DROP], [1.0]),
        (NAMES, ["-A DOCKER-USER -s 10.0.0.0/8 -j RETURN", DROP], [0.6]),
        (NAMES, ["-A DOCKER-USER -p tcp --dport 25 -j RETURN", DROP], [1.0]),
        (NAMES, [DROP.replace("udp", "tcp")], []),
        (NAMES, [DROP.replace("-p udp", "-i eth0 -p udp")], []),
        (NAMES, [DROP.replace("-p udp", "-s 10.7.0.0/16 -p udp")], []),
        (NAMES, [DROP.replace("-p udp", "-o docker0 -p udp")], []),
        (NAMES, [DROP.replace("53", "5353")], []),
        (NAMES, [DROP.replace("-j DROP", "-m conntrack --ctstate INVALID -j DROP")], []),
        (NAMES, [DROP.replace("DOCKER-USER", "INPUT")], []),
        ("The host cannot resolve names.", [DROP], []),
        ("Containers are slow.", [DROP], []),
        (PORT, [DROP], []),
    ],
)
def test_whom_the_rule_is_for(prose: str, rules: list[str], expected: list[float]) -> None:
    """A rule for others, another port or another protocol is none; one above it may take all."""
    assert expected == judge(prose, *rules)
