"""What works while the host's firewall is off."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.works_without_firewall import check
from tests.checks.pasted import ticket_of

FAILS = "$ nc -zv 10.0.0.5 5432\nnc: connect to 10.0.0.5 port 5432 (tcp) failed: No route to host\n"
WORKS = "$ nc -zv 10.0.0.5 5432\nConnection to 10.0.0.5 5432 port [tcp/postgresql] succeeded!\n"


def certainties(console: str, said: str = "A container cannot reach the database.") -> list[float]:
    """Return how sure each finding is."""
    return [one.certainty for one in check(ticket_of(f"{said}\n\n```\n{console}```\n"))]


@pytest.mark.parametrize(
    "command",
    [
        "systemctl stop firewalld",
        "systemctl disable --now ufw",
        "service iptables stop",
        "ufw disable",
        "ufw route allow in on docker0",
        "iptables -P FORWARD ACCEPT",
        "iptables -I INPUT -p tcp --dport 5432 -j ACCEPT",
        "iptables -D INPUT -j REJECT --reject-with icmp-host-prohibited",
        "firewall-cmd --zone=trusted --add-interface=docker0",
    ],
)
def test_a_firewall_that_is_off_cures_it(command: str) -> None:
    """Nothing else was changed between."""
    assert [1.0] == certainties(f"{FAILS}$ {command}\n{WORKS}")


def test_a_firewall_that_is_on_breaks_it() -> None:
    """It takes nobody else's rules away."""
    assert [1.0] == certainties(f"{WORKS}$ ufw enable\n{FAILS}")


@pytest.mark.parametrize("command", ["iptables -F", "nft flush ruleset"])
def test_what_takes_all_rules_away_leaves_open_whose_did_it(command: str) -> None:
    """A plugin's policies and translations are gone, too."""
    assert [0.7] == certainties(f"{FAILS}$ {command}\n{WORKS}")


@pytest.mark.parametrize(
    ("console", "said"),
    [
        (f"{FAILS}$ systemctl stop firewalld\n$ systemctl restart docker\n{WORKS}", "It fails."),
        (f"{FAILS}$ systemctl stop firewalld\n{WORKS}", "A container sometimes gets no answer."),
    ],
    ids=["two-changes", "at-times"],
)
def test_what_else_may_have_cured_it_leaves_it_open(console: str, said: str) -> None:
    """Another change stands between, or it fails at times only."""
    assert [0.7] == certainties(console, said)


@pytest.mark.parametrize(
    "command",
    [
        "systemctl restart docker",
        "iptables -t nat -F",
        "iptables -t nat -A POSTROUTING -j MASQUERADE",
        "systemctl status firewalld",
        "firewall-cmd --zone=public --add-masquerade",
        "systemctl start firewalld",
    ],
)
def test_another_cure(command: str) -> None:
    """NAT that was missing, or a service that was started."""
    assert not certainties(f"{FAILS}$ {command}\n{WORKS}")


def test_a_stopped_firewall_that_breaks_it() -> None:
    """Docker's rules went with it: another check tells that."""
    assert not certainties(f"{WORKS}$ systemctl stop firewalld\n{FAILS}")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Pods cannot resolve names. When I stop firewalld everything works.", [0.65]),
        ("Pods cannot resolve names, although firewalld is stopped.", []),
        ("Stopping firewalld: everything works.", []),
    ],
    ids=["without", "off-and-fails", "nothing-fails"],
)
def test_what_people_say(said: str, expected: list[float]) -> None:
    """A sentence states nothing of rules: it says what to look at."""
    assert expected == certainties("$ uname -r\n6.1.0\n", said)
