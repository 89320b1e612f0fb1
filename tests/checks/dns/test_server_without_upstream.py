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
