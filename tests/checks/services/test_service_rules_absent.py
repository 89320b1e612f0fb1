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


NO_CHAIN = (
    "root@w3:~# iptables -t nat -L KUBE-SERVICES -n\n"
    "iptables: No chain/target/match by that name.\n"
)
AGENTS = (
    "root@w3:~# kubectl -n kube-system get ds\n"
    "NAME    DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR           AGE\n"
    "cilium  3        3        3      3           3          kubernetes.io/os=linux  2d\n"
)
UNREPLACED = (
    "root@w3:~# kubectl -n kube-system exec ds/cilium -- cilium status\n"
    "Kubernetes:              Ok   1.28 (v1.28.4) [linux/amd64]\n"
    "KubeProxyReplacement:    False   [eth0 10.0.3.11 (Direct Routing)]\n"
)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (NO_CHAIN, [0.8]),
        (UNREPLACED + AGENTS + NO_CHAIN, [1.0]),
        (UNREPLACED.replace("False ", "True  ") + AGENTS + NO_CHAIN, []),
        (UNREPLACED + AGENTS.replace("cilium", "kube-proxy") + NO_CHAIN, [0.8]),
        (NO_CHAIN.replace("KUBE-SERVICES", "DOCKER"), []),
    ],
    ids=["alone", "nobody else", "replaced", "kube-proxy", "another chain"],
)
def test_a_host_without_the_chain_translates_nothing(shown: str, expected: list[float]) -> None:
    """It is certain where nobody runs who would write it."""
    assert expected == _certainties(FAILS, shown)
