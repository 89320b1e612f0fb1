"""Searches for a service's address that find nothing."""

from __future__ import annotations

import pytest

from podpath.checks.services.service_rules_absent import check
from tests.checks.pasted import ticket_of

FAILS = "Connections to the service web (10.96.44.12) from node w3 time out."
IPTABLES = "root@w3:~# iptables-save -t nat | grep 10.96.44.12\n"
IPVS = "root@w3:~# ipvsadm -Ln | grep 10.96.44.12\n"
END = "root@w3:~# uptime\n 10:00:00 up 3 days,  1:02,  1 user,  load average: 0.1, 0.1, 0.1\n"


def _certainties(said: str, shown: str) -> list[float]:
    case = ticket_of(f"{said}\n\n```\n{shown}{END}```\n")
    return [one.certainty for one in check(case)]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [(IPTABLES, 0.6), (IPVS, 0.6), (IPTABLES + IPVS, 0.8)],
    ids=["iptables", "ipvs", "both"],
)
def test_the_searches_are_counted(shown: str, expected: float) -> None:
    """The more ways to keep rules were searched, the likelier."""
    assert [expected] == _certainties(FAILS, shown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (FAILS, IPTABLES + "-A KUBE-SERVICES -d 10.96.44.12/32 -j KUBE-SVC-ABC\n"),
        (FAILS, IPTABLES.replace("grep", "grep -v")),
        (FAILS, IPTABLES.replace("iptables-save -t nat", "ip route")),
        (FAILS.replace("10.96.44.12", "10.96.44.13"), IPTABLES),
        (FAILS.replace("time out", "work"), IPTABLES),
        (f"Cilium. {FAILS}", IPTABLES),
        (f"kube-proxy in IPVS mode. {FAILS}", IPTABLES),
        (FAILS.replace("service web (", "machine web ("), IPTABLES),
    ],
    ids=["found", "inverted", "routes", "another", "works", "cilium", "mode", "machine"],
)
def test_what_only_looks_like_it_is_let_be(said: str, shown: str) -> None:
    """A search that found something, one for something else, and others that translate."""
    assert [] == _certainties(said, shown)
