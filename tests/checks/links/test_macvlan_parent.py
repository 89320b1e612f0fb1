"""Containers on the host's own card."""

from __future__ import annotations

import pytest

from podpath.checks.links.macvlan_parent import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ docker network inspect lan
[
    {
        "Name": "lan",
        "Driver": "macvlan",
```
"""
ALMOST = """\
```
$ docker network inspect lan
[
    {
        "Name": "lan",
        "Driver": "bridge",
```
"""
HEALTHY = """\
```
$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "macvlan" in found.evidence[0].text
    assert 0.6 == found.certainty
    assert "macvlan" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A bridge."""
    assert [] == list(check(case_of_document(ticket)))


@pytest.mark.parametrize(
    ("prose", "proven"),
    [
        ("The host cannot ping its own containers.", True),
        (
            "The container gets no answer from the host it runs on: it cannot reach its own host.",
            True,
        ),
        ("Other PCs reach it, but the docker host itself cannot connect to the container.", True),
        ("The container cannot reach the internet.", False),
        ("Another PC of the LAN cannot ping the container.", False),
    ],
)
def test_who_does_not_reach_whom_may_prove_it(prose: str, *, proven: bool) -> None:
    """Only what is between the host and its own containers."""
    (finding,) = check(ticket_of(f"{prose}\n\n{FAULT}"))

    assert proven is bool(finding.proves)


def test_what_does_not_start_sends_nothing() -> None:
    """That the host and its containers do not reach each other keeps no container from starting."""
    said = "Containers of the network lan do not start.\n\n"

    assert [] == list(check(ticket_of(said + FAULT)))


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ("Containers do not reach the host.", True),
        ("Each lookup of our pods takes five seconds now and then.", False),
        ("Containers on the host's network are slow.", False),
        ("Containers are slow. The host does not reach them.", True),
    ],
)
def test_what_is_passed_is_not_cut_off(prose: str, *, told: bool) -> None:
    """Between the two nothing is passed, ever; what is slow or comes and goes is something else."""
    assert told is bool(list(check(ticket_of(f"{prose}\n\n{FAULT}"))))
