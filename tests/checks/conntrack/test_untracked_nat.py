"""Packets that are to be translated and not tracked."""

from __future__ import annotations

import pytest

from podpath.checks.conntrack.untracked_nat import check
from tests.checks.pasted import case_of, ticket_of

RULES = """\
# iptables-save
*raw
:PREROUTING ACCEPT [0:0]
{raw}
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -d 192.0.2.7/32 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.9.0.7:80
COMMIT
"""
TAKEN = "-A PREROUTING -p tcp -m tcp --dport 8080 -j CT --notrack"


def test_a_rule_before_one_that_translates() -> None:
    """Both are quoted, and it is certain."""
    (found,) = check(case_of(RULES.format(raw=TAKEN)))

    assert (1.0, TAKEN) == (found.certainty, found.evidence[0].text)
    assert "DNAT" in found.evidence[1].text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (TAKEN.replace("-p tcp -m tcp", "-i eth0 -p tcp -m tcp"), [0.6]),
        (f"-A PREROUTING -s 10.9.0.0/16 -j ACCEPT\n{TAKEN}", [0.6]),
        (TAKEN.replace("8080", "8000:8099"), [1.0]),
        (TAKEN.replace("-p tcp", "-d 192.0.2.0/24 -p tcp"), [1.0]),
        (TAKEN.replace("-p tcp", "-d 192.0.2.9/32 -p tcp"), []),
        (TAKEN.replace("tcp", "udp"), []),
        (TAKEN.replace("8080", "80"), []),
        (TAKEN.replace("-p tcp", "-s 10.0.0.0/8 -p tcp"), []),
        (TAKEN.replace("--dport 8080", "--dport 8080 --tcp-flags FIN,SYN,RST,ACK SYN"), []),
        (TAKEN.replace("CT --notrack", "ACCEPT"), []),
    ],
)
def test_what_the_rule_takes(raw: str, expected: list[float]) -> None:
    """The same protocol, port and address, and not what SYNPROXY or a single source sends."""
    assert [one.certainty for one in check(case_of(RULES.format(raw=raw)))] == expected


IPVS = """\
# sysctl net.ipv4.vs.conntrack
net.ipv4.vs.conntrack = {tracks}
# iptables-save -t raw
*raw
:PREROUTING ACCEPT [0:0]
-A PREROUTING -i eth0 -d 10.0.0.1/32 -p tcp -m tcp --dport 1234 -j CT --notrack
COMMIT
# ipvsadm -L -n
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.0.0.1:1234 rr
  -> 10.0.1.2:1234                {method}    1      0          0
"""


@pytest.mark.parametrize(
    ("tracks", "method", "expected"),
    [("1", "Masq", [0.6]), ("0", "Masq", []), ("1", "Route", [])],
)
def test_a_service_of_ipvs(tracks: str, method: str, expected: list[float]) -> None:
    """IPVS translates by itself unless it is told to keep conntrack informed."""
    found = check(case_of(IPVS.format(tracks=tracks, method=method)))

    assert [one.certainty for one in found] == expected


NATIVE = """\
{said}

```
# nft list ruleset
table inet filter {{
        chain prerouting {{
                type filter hook prerouting priority raw; policy accept;
                {rule} notrack
        }}
}}
```
"""
FAILS = "Docker containers get no answer from web servers."


@pytest.mark.parametrize(
    ("said", "rule", "expected"),
    [
        (FAILS, "tcp dport 443", [0.6]),
        ("The web server is slow.", "tcp dport 443", []),
        ("The web server in a Docker container is slow.", "tcp dport 443", []),
        ("Docker containers reach all web servers.", "tcp dport 443", []),
        (FAILS, "ip daddr 192.0.2.7 tcp dport 443", []),
        (FAILS, 'iifname "eth0" tcp dport 443', []),
        (FAILS, "udp dport 53", []),
    ],
)
def test_ports_of_whomever(said: str, rule: str, expected: list[float]) -> None:
    """On a host with containers whose traffic fails; a server's own address or device is meant
    for the server.
    """
    found = check(ticket_of(NATIVE.format(said=said, rule=rule)))

    assert [one.certainty for one in found] == expected
