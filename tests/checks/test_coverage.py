"""Which packets a rule takes, held against another."""

from __future__ import annotations

import pytest

from podpath.checks.coverage import (
    FailingTraffic,
    Maybe,
    Path,
    chains_in,
    covers,
    list_paths,
    roots,
    takes,
)
from podpath.checks.firewall import tables_named
from tests.checks.pasted import case_of


def _paths(text: str) -> list[Path]:
    (table,) = tables_named(case_of(text).node.host, "filter")
    chains = chains_in(table)
    return [path for root in roots(chains) for path in list_paths(chains, root)]


@pytest.mark.parametrize(
    ("upper", "lower", "sure"),
    [
        ("-j DROP", "-p tcp --dport 80 -j ACCEPT", True),
        ("-s 10.0.0.0/8 -j DROP", "-s 10.1.0.0/16 -j ACCEPT", True),
        ("-s 10.1.0.0/16 -j DROP", "-s 10.0.0.0/8 -j ACCEPT", False),
        ("! -s 10.0.0.0/8 -j DROP", "-s 192.168.1.0/24 -j ACCEPT", True),
        ("! -s 10.0.0.0/8 -j DROP", "-s 10.9.0.0/16 -j ACCEPT", False),
        (
            "-p tcp --dport 8000:9000 -j DROP",
            "-p tcp -m multiport --dports 8080,8443 -j ACCEPT",
            True,
        ),
        (
            "-p tcp --dport 8000:9000 -j DROP",
            "-p tcp -m multiport --dports 8080,9443 -j ACCEPT",
            False,
        ),
        ("-p udp --dport 53 -j DROP", "-p tcp --dport 53 -j ACCEPT", False),
        ("-i eth+ -j DROP", "-i eth0 -j ACCEPT", True),
        ("! -i docker0 -j DROP", "-i eth0 -j ACCEPT", True),
        ("! -i docker0 -j DROP", "-i docker0 -j ACCEPT", False),
        ("-m conntrack --ctstate NEW -j DROP", "-p tcp --dport 80 -j ACCEPT", True),
        ("-m conntrack --ctstate INVALID -j DROP", "-p tcp --dport 80 -j ACCEPT", False),
        ("-m limit --limit 5/sec -j DROP", "-p tcp --dport 80 -j ACCEPT", False),
        ("-s x.x.x.x -j DROP", "-s 10.0.0.0/8 -j ACCEPT", None),
        ("-p tcp --syn -j DROP", "-p tcp --dport 80 -j ACCEPT", True),
    ],
)
def test_one_rule_covers_another(upper: str, lower: str, sure: Maybe) -> None:
    """Each condition of the upper one has to follow from the lower one's."""
    one, other = _paths(f"-A INPUT {upper}\n-A INPUT {lower}")

    assert covers(one, other) is sure


def test_jumps_carry_their_conditions() -> None:
    """A rule takes what all jumps to it let through."""
    one, _, third = _paths(
        "-A INPUT -i eth0 -j MINE\n-A INPUT -i eth1 -j ACCEPT\n-A INPUT -i eth0 -p tcp -j ACCEPT\n"
        "-A MINE -j DROP"
    )

    assert [rule.chain for rule in one.rules] == ["INPUT", "MINE"]
    assert covers(one, third) is True


def test_what_returns_leaks() -> None:
    """Behind a RETURN a chain's rule does not see every packet."""
    _, drop, accept = _paths(
        "-A INPUT -j MINE\n-A INPUT -p tcp -j ACCEPT\n-A MINE -s 10.0.0.1 -j RETURN\n"
        "-A MINE -j DROP"
    )

    assert drop.leaky
    assert covers(drop, accept) is False


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("-p tcp --dport 80 -j DROP", True),
        ("-p tcp --dport 81 -j DROP", False),
        ("-p icmp -j DROP", False),
        ("-i eth0 -p tcp --dport 80 -j DROP", None),
        ("-p tcp -m set --match-set x src --dport 80 -j DROP", None),
    ],
)
def test_what_is_said_to_fail_falls_under_a_rule(rule: str, answer: Maybe) -> None:
    """A port decides; devices and sources that nobody names leave it open."""
    (path,) = _paths(f"-A INPUT {rule}")

    assert takes(path, 80, FailingTraffic((80,), (), None, None)) is answer
