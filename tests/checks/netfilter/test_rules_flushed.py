"""What was typed that removes others' rules."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.rules_flushed import ABSENT, TYPED, check
from tests.checks.pasted import found, ticket_of


def test_a_flush_of_nat() -> None:
    """Docker's chains are gone with it."""
    text = """
$ iptables -t nat -F
"""
    assert found(check, text) == [(0.6, "$ iptables -t nat -F")]


def test_a_managers_restart() -> None:
    """Firewalld takes the chains of others along."""
    text = """
$ systemctl restart firewalld
"""
    assert found(check, text) == [(0.6, "$ systemctl restart firewalld")]


def test_another_service() -> None:
    """A restart of Docker writes its chains anew."""
    text = """
$ systemctl restart docker
"""
    assert found(check, text) == []


def test_a_chain_of_ones_own() -> None:
    """A script empties what it fills."""
    text = """
$ iptables -F MYCHAIN
"""
    assert found(check, text) == []


def test_what_cured_it() -> None:
    """Somebody stopped the firewall to see whether it is to blame, and it was."""
    text = """
$ nc -zv 10.0.0.5 5432
nc: connect to 10.0.0.5 port 5432 (tcp) failed: No route to host
$ systemctl stop firewalld
$ nc -zv 10.0.0.5 5432
Connection to 10.0.0.5 5432 port [tcp/postgresql] succeeded!
"""
    assert found(check, text) == []


def test_who_writes_them_was_started_again() -> None:
    """The words above the rules that are listed afterwards say so."""
    text = """
Clear all rules:

```
# iptables -F
# iptables -t nat -F
```

Then restart `dockerd`, and `iptables-save` shows

```
*nat
:POSTROUTING ACCEPT [0:0]
-A POSTROUTING -s 172.20.5.0/25 ! -o docker0 -j MASQUERADE
COMMIT
```
"""
    assert list(check(ticket_of(text))) == []
    assert list(check(ticket_of(text.replace("Then restart", "Without"))))


def test_what_is_told_as_a_remedy() -> None:
    """A reload that makes a zone's change hold is no fault where it works since."""
    text = """
Guests had no network. I had to do this, then it worked:

```
sudo firewall-cmd --zone=trusted --add-interface=incusbr0 --permanent
sudo firewall-cmd --reload
```
"""
    assert list(check(ticket_of(text))) == []
    assert list(check(ticket_of(text.replace("then it worked", "and it stopped"))))


def test_ufw_removes_its_own_rules_alone() -> None:
    """Docker's chains stay."""
    assert found(check, "\n$ ufw enable\n") == []


ZONES = "# firewall-cmd --get-active-zones\n"
DOCKER = "docker\n  interfaces: docker0 br-90c1ffab2d10\n"
PUBLIC = "public\n  interfaces: ens18\n"
RESTART = "# systemctl restart firewalld\n"
CHAIN = "# iptables -t nat -S DOCKER\niptables: No chain/target/match by that name.\n"


def certain(*parts: str) -> list[float]:
    """Return how sure each finding of a ticket is."""
    text = "".join(parts)
    return [one.certainty for one in check(ticket_of(f"It fails.\n\n```\n{text}```\n"))]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((ZONES, DOCKER, PUBLIC, RESTART, ZONES, PUBLIC), [1.0]),
        ((ZONES, DOCKER, PUBLIC, "# firewall-cmd --reload\n", ZONES, PUBLIC, CHAIN), [1.0]),
        ((ZONES, DOCKER, PUBLIC, RESTART, ZONES[:-1], " | grep -A1 public\n", PUBLIC), [TYPED]),
        ((RESTART, CHAIN), [ABSENT]),
        ((CHAIN, RESTART), [TYPED]),
        ((RESTART, ZONES, PUBLIC), [TYPED]),
        ((ZONES, DOCKER, PUBLIC, RESTART, ZONES, DOCKER, PUBLIC), [TYPED]),
        ((ZONES, DOCKER, PUBLIC, RESTART, "# systemctl restart docker\n", ZONES, DOCKER), []),
        ((ZONES, DOCKER, PUBLIC, ZONES, PUBLIC, CHAIN), []),
    ],
)
def test_two_moments_and_what_was_typed_between(
    parts: tuple[str, ...], expected: list[float]
) -> None:
    """A zone that lost an engine's bridge; a chain that is absent may never have been there."""
    assert expected == certain(*parts)
