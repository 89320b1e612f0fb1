"""DNAT to an address that nobody answers for."""

from __future__ import annotations

from podpath.checks.netfilter.dead_dnat import check
from tests.checks.pasted import found


def test_the_neighbour_does_not_answer() -> None:
    """ARP failed for the address."""
    text = """
$ iptables -t nat -S DOCKER
-N DOCKER
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.9:80
$ ip neigh
172.17.0.9 dev docker0 FAILED
"""
    assert found(check, text) == [
        (
            1.0,
            (
                "-A DOCKER ! -i docker0 -p tcp -m tcp --dport 80 -j DNAT --to-destination "
                "172.17.0.9:80"
            ),
        )
    ]


def test_a_neighbour_that_answers() -> None:
    """Somebody has the address."""
    text = """
$ iptables -t nat -S DOCKER
-N DOCKER
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.9:80
$ ip neigh
172.17.0.9 dev docker0 lladdr 02:42:ac:11:00:09 REACHABLE
"""
    assert found(check, text) == []
