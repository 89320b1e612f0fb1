"""Name servers that ask nobody."""

from __future__ import annotations

import pytest

from podpath.checks.dns.server_without_upstream import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# ip -4 addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    inet 10.0.0.5/24 brd 10.0.0.255 scope global eth0
root@box:~# cat {path}
{text}
root@box:~# ping -c1 www.example.org
{said}
```
"""
FAILS = "ping: www.example.org: Name or service not known"
NAMED = "/etc/bind/named.conf.options"
UNBOUND = "/etc/unbound/unbound.conf"


@pytest.mark.parametrize(
    ("path", "text", "decisive"),
    [
        ("/etc/dnsmasq.conf", "no-resolv\nlisten-address=10.0.0.5", "no-resolv"),
        ("/etc/dnsmasq.conf", "server=10.0.0.5\ndomain-needed", "server=10.0.0.5"),
        (
            NAMED,
            "options {\n  forwarders { 10.0.0.5; };\n  recursion yes;\n};",
            "forwarders { 10.0.0.5; };",
        ),
        (NAMED, "options {\n  recursion no;\n};", "recursion no;"),
        (
            NAMED,
            "options {\n  allow-recursion { localhost; };\n};",
            "allow-recursion { localhost; };",
        ),
        (
            UNBOUND,
            'forward-zone:\n  name: "."\n  forward-addr: 127.0.0.1',
            "forward-addr: 127.0.0.1",
        ),
        ("/etc/systemd/resolved.conf", "[Resolve]\nDNS=127.0.0.53", "DNS=127.0.0.53"),
    ],
)
def test_what_asks_nobody_is_quoted(path: str, text: str, decisive: str) -> None:
    """A name that fails is the second fact."""
    (found,) = check(case_of_document(TICKET.format(path=path, text=text, said=FAILS)))

    assert (1.0, decisive) == (found.certainty, found.evidence[0].text.strip())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/dnsmasq.conf", "no-resolv\nserver=10.0.0.1"),
        ("/etc/dnsmasq.conf", "server=127.0.0.1#5353\ndomain-needed"),
        ("/etc/dnsmasq.conf", "server=127.0.0.1\nlisten-address=10.0.0.5"),
        (
            NAMED,
            (
                "options {\n  forwarders { 10.0.0.1; };\n  allow-recursion { localhost; "
                "10.0.0.0/24; };\n};"
            ),
        ),
        (
            UNBOUND,
            "server:\n  do-not-query-localhost: no\nforward-zone:\n  forward-addr: 127.0.0.1@5353",
        ),
        ("/etc/systemd/resolved.conf", "[Resolve]\nDNS=10.0.0.1"),
    ],
)
def test_what_asks_another_is_right(path: str, text: str) -> None:
    """Another host, or another server of the same host at its own port."""
    assert not list(check(case_of_document(TICKET.format(path=path, text=text, said=FAILS))))


CLUSTER = """No pod resolves names outside the cluster.

```
$ {command}
[ERROR] plugin/errors: 2 www.example.org. A: read udp {src}:34504->{server}:53: i/o timeout
$ kubectl get svc -A
NAMESPACE     NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
default       web        ClusterIP   10.96.0.99   <none>        80/TCP          1h
kube-system   kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   1h
```
"""
LOGS = "kubectl logs -n kube-system coredns-7945bc8d5c-qp5s7"


def test_a_cluster_that_asks_itself() -> None:
    """The address in the line is that of the service that the server serves."""
    (found,) = check(
        case_of_document(CLUSTER.format(command=LOGS, src="10.244.2.27", server="10.96.0.10"))
    )

    assert found.claim == (
        "The cluster's DNS server forwards to 10.96.0.10, the address of its own service "
        "kube-system/kube-dns."
    )
    assert found.certainty == 1


def test_an_unknown_speaker_may_be_a_cache_on_the_node() -> None:
    """NodeLocal DNSCache asks that service as it should."""
    (found,) = check(
        case_of_document(CLUSTER.format(command="cat log", src="10.1.1.2", server="10.96.0.10"))
    )

    assert (found.certainty, len(found.asks)) == (0.8, 1)


@pytest.mark.parametrize(
    ("command", "server"),
    [
        (LOGS, "10.96.0.99"),
        (LOGS, "192.0.2.53"),
        ("kubectl logs -n kube-system node-local-dns-4s4qp", "10.96.0.10"),
    ],
)
def test_another_server_is_not_itself(command: str, server: str) -> None:
    """Another service, a server outside, or the cache that stands before the service."""
    case = case_of_document(CLUSTER.format(command=command, src="10.244.2.27", server=server))
    assert not list(check(case))
