"""A kube-proxy that ends on the node whose servers are old."""

from __future__ import annotations

import pytest

from podpath.checks.services.proxy_down import check
from tests.checks.pasted import ticket_of

TICKET = """
Requests to the service `wiki` hang on node {node}.

```
[root@moss-2 ~]# ipvsadm -Ln
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.97.3.3:80 rr
  -> {server}:8080              Masq    1      0          2
$ kubectl get svc,ep
NAME           TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
service/wiki   ClusterIP   10.97.3.3    <none>        80/TCP    88d

NAME             ENDPOINTS         AGE
endpoints/wiki   {listed}   88d
$ kubectl get pods -n kube-system -o wide
NAME               READY   STATUS             RESTARTS   AGE   IP         NODE
kube-proxy-9k2fd   0/1     CrashLoopBackOff   7          88d   10.9.0.5   {node}
```
"""


def claims(
    node: str = "moss-2", server: str = "10.66.1.12", listed: str = "10.66.2.40:8080"
) -> list[str]:
    """Return what is found."""
    ticket = ticket_of(TICKET.format(node=node, server=server, listed=listed))
    return [str(found.claim) for found in check(ticket)]


def test_the_address_that_is_left_is_named() -> None:
    """The proxy is the node's own, and the server is no endpoint."""
    (claim,) = claims()

    assert "kube-proxy-9k2fd on moss-2" in claim
    assert "10.66.1.12:8080" in claim


@pytest.mark.parametrize(
    ("node", "server", "listed"),
    [
        ("moss-3", "10.66.1.12", "10.66.2.40:8080"),
        ("moss-2", "10.66.2.40", "10.66.2.40:8080"),
        ("moss-2", "10.66.1.12", "10.66.2.40:8080,10.66.2.41:8080 + 3 more..."),
        ("moss-2", "10.66.1.12", "10.66.2.40:9090"),
    ],
)
def test_servers_in_order(node: str, server: str, listed: str) -> None:
    """Another node's proxy ends, or the server is an endpoint, or may be one."""
    assert [] == claims(node, server, listed)


def test_a_server_of_a_service_that_is_not_shown() -> None:
    """That the address which fails is of the only Endpoints is supposed."""
    shown = TICKET.replace(
        "service/wiki   ClusterIP   10.97.3.3    <none>        80/TCP    88d", ""
    )
    tried = (
        "```\n[root@moss-2 ~]# curl -m 3 http://10.97.3.3/\ncurl: (28) Connection timed out\n```\n"
    )
    text = shown.format(node="moss-2", server="10.66.1.12", listed="10.66.2.40:8080") + tried
    (found,) = check(ticket_of(text))

    assert found.certainty < 1
    assert found.asks


def test_listings_of_two_moments() -> None:
    """The address was listed at one of them."""
    later = """```
$ kubectl get ep wiki
NAME   ENDPOINTS         AGE
wiki   10.66.1.12:8080   88d
```
"""
    text = TICKET.format(node="moss-2", server="10.66.1.12", listed="10.66.2.40:8080") + later

    assert [] == list(check(ticket_of(text)))


def test_a_server_that_gets_nothing_new() -> None:
    """Its weight is 0: it is left for the connections that it has."""
    text = TICKET.replace("Masq    1  ", "Masq    0  ")
    text = text.format(node="moss-2", server="10.66.1.12", listed="10.66.2.40:8080")

    assert [] == list(check(ticket_of(text)))
