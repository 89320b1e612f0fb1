"""Names that one server has and another has not."""

from __future__ import annotations

import pytest

from podpath.checks.dns.name_known_elsewhere import check
from podpath.checks.finding import Finding
from tests.checks.pasted import ticket_of

POD = """
```
$ kubectl exec -i -t dnsutils -- nslookup {name}
Server:		10.43.0.10
Address:	10.43.0.10#53

** server can't find {name}: {error}
```
"""
NODE = """
```
node:~$ nslookup {name}
Server:		{server}
Address:	{server}#53

Non-authoritative answer:
Name:	{name}
Address: 192.168.28.13
```
"""
RESOLV = """
```
$ sudo cat /var/lib/rancher/sandboxes/304b/resolv.conf
nameserver 8.8.8.8
```
"""


def find(
    name: str = "git.lab.example.net",
    error: str = "NXDOMAIN",
    server: str = "127.0.0.53",
    known: str = "",
) -> list[Finding]:
    """Return what is found in a ticket with two lookups and a resolv.conf."""
    pod = POD.format(name=name, error=error)
    node = NODE.format(name=known or name, server=server)
    return list(check(ticket_of(f"A name is not resolved in pods.\n{pod}{node}{RESOLV}")))


def test_a_zone_that_only_the_inner_server_has() -> None:
    """Both answers are quoted, and whom else a resolv.conf names."""
    (finding,) = find()

    assert [line.text.split()[-1] for line in finding.evidence] == [
        "NXDOMAIN",
        "git.lab.example.net",
        "8.8.8.8",
    ]
    assert finding.certainty < 1
    assert finding.asks


@pytest.mark.parametrize(
    "changed",
    [
        {"error": "SERVFAIL"},
        {"server": "10.43.0.10"},
        {"known": "www.example.net"},
        {"name": "web.shop.svc.cluster.local"},
    ],
    ids=["it fails", "the same server", "another name", "a name of the cluster"],
)
def test_answers_that_do_not_differ(changed: dict[str, str]) -> None:
    """Only two answers of two servers about one name of outside say it."""
    assert not find(**changed)


COREFILE = """
```
$ kubectl -n kube-system get cm coredns -o yaml
...
data:
  Corefile: |
    .:53 {
        ...
        forward . /etc/resolv.conf
    }
```
"""


@pytest.mark.parametrize(
    ("parts", "proven"),
    [((COREFILE, RESOLV), True), ((RESOLV,), False), ((COREFILE,), False)],
)
def test_who_is_forwarded_to_is_neither_of_both(parts: tuple[str, ...], proven: bool) -> None:  # noqa: FBT001 # a row
    """That names are forwarded, and to whom, convicts: it is not the server that knows the name."""
    name = "git.lab.example.net"
    answers = POD.format(name=name, error="NXDOMAIN") + NODE.format(name=name, server="127.0.0.53")
    (finding,) = check(ticket_of(f"A name is not resolved in pods.\n{answers}{''.join(parts)}"))

    assert proven is bool(finding.proves)
