"""A chain of node ports that lacks a service's own."""

from __future__ import annotations

import pytest

from podpath.checks.services.node_port_unwritten import check
from tests.checks.pasted import ticket_of

SAID = "NodePort 31000 is refused from outside on node b."
CHAIN = (
    "root@b:~# iptables -t nat -S KUBE-NODEPORTS\n"
    "-N KUBE-NODEPORTS\n"
    "-A KUBE-NODEPORTS -p tcp -m tcp --dport 30500 -j KUBE-EXT-AAAA\n"
)
SERVICES = (
    "root@b:~# kubectl get svc\n"
    "NAME   TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)        AGE\n"
    "web    NodePort   10.96.3.3    <none>        80:31000/TCP   9d\n"
)
ANOTHER = "api    NodePort   10.96.3.4    <none>        80:31001/TCP   9d\n"
LOG = (
    "root@b:~# kubectl -n kube-system logs kube-proxy-x1\n"
    'E0311 09:00:01.000000  1 proxier.go:1588] "Failed to execute iptables-restore" err="exit '
    'status 4: Another app is currently holding the xtables lock"\n'
)


def _certainties(said: str, *shown: str) -> list[float]:
    case = ticket_of(f"{said}\n\n```\n{''.join(shown)}```\n")
    return [one.certainty for one in check(case)]


@pytest.mark.parametrize(
    ("shown", "expected"), [((CHAIN, SERVICES), 0.8), ((CHAIN, SERVICES, LOG), 1.0)]
)
def test_the_log_makes_it_certain(shown: tuple[str, ...], expected: float) -> None:
    """Without it the service may have no endpoints."""
    assert [expected] == _certainties(SAID, *shown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (SAID, (CHAIN.replace("30500", "31000"), SERVICES)),
        (SAID.replace("31000", "30500"), (CHAIN, SERVICES)),
        (SAID.replace("NodePort 31000", "The pod"), (CHAIN, SERVICES)),
        (SAID, (CHAIN.replace("-S KUBE-NODEPORTS", "-S | grep 30500"), SERVICES)),
        (SAID, (CHAIN,)),
        (SAID.replace(" 31000", "s"), (CHAIN, SERVICES + ANOTHER)),
    ],
    ids=["written", "another", "no node port", "filtered", "no service", "which one"],
)  # fmt: skip
def test_what_only_looks_like_it_is_let_be(said: str, shown: tuple[str, ...]) -> None:
    """A rule that is there, another port, a part of the chain, and several that lack theirs."""
    assert [] == _certainties(said, *shown)
