"""Firewalld's zones."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.firewall_zone import check
from tests.checks.pasted import found, ticket_of


def test_a_containers_device() -> None:
    """The bridge is in a zone that lets in ssh alone."""
    text = """
$ firewall-cmd --list-all
public (active)
  target: default
  icmp-block-inversion: no
  interfaces: eth0 cni0
  sources:
  services: dhcpv6-client ssh
  ports:
  masquerade: no
  rich rules:
"""
    assert found(check, text) == [(0.7, "interfaces: eth0 cni0")]


def test_the_trusted_zone() -> None:
    """It accepts all."""
    text = """
$ firewall-cmd --list-all
trusted (active)
  target: ACCEPT
  icmp-block-inversion: no
  interfaces: eth0 cni0
  sources:
  services: dhcpv6-client ssh
  ports:
  masquerade: no
  rich rules:
"""
    assert found(check, text) == []


MANY = "http https mysql smtp ntp ftp tftp"


@pytest.mark.parametrize(
    ("said", "services", "claims"),
    [
        ("Syslog sent to port 514 of the host does not arrive.", "ssh syslog", []),
        ("Port 1514 of the host is not reached.", "ssh syslog", []),
        (
            "Port 8080 of the host is not reached.",
            "ssh syslog",
            ["Firewalld's zone public admits only ssh syslog 1514/udp."],
        ),
        (
            "The host is not reached.",
            MANY,
            ["Firewalld's zone public admits only http https mysql smtp ntp ftp and 2 more."],
        ),
    ],
)
def test_a_port_that_the_zone_admits(said: str, services: str, claims: list[str]) -> None:
    """It is no cause of what fails at that port, by number or by service; a long list is cut."""
    text = f"""
{said}

```
$ firewall-cmd --info-zone public
public (active)
  target: default
  interfaces: ens3
  sources:
  services: {services}
  ports: 1514/udp
  masquerade: no
  rich rules:
```
"""
    assert claims == [str(one.claim) for one in check(ticket_of(text))]


ZONE = """
{said}

```
$ firewall-cmd --list-all
public (active)
  target: default
  icmp-block-inversion: no
  interfaces: eth0
  sources:
  services: dhcpv6-client ssh
  ports: 6443/tcp
  masquerade: no
  rich rules:
{more}```
"""
TRUSTED = """
trusted (active)
  target: ACCEPT
  interfaces: cni0
  sources: 10.42.0.0/16
  services:
"""
FAILS = "Pods cannot resolve names."
CURED = f"{FAILS} If I stop firewalld it works."


@pytest.mark.parametrize(
    ("said", "more", "certainty"), [(CURED, "", 1.0), (CURED, TRUSTED, 0.5), (FAILS, "", 0.5)]
)
def test_what_works_without_the_firewall(said: str, more: str, certainty: float) -> None:
    """The zone is to blame, unless another one is shown to trust the pods' bridge."""
    (found,) = check(ticket_of(ZONE.format(said=said, more=more)))

    assert certainty == found.certainty


REJECTED = """{said}

```
[root@worker-7 ~]# firewall-cmd --list-all
public (active)
  target: default
  interfaces: eth0
  services: ssh
  ports: 6443/tcp
  masquerade: no
  rich rules:
```

From a laptop:

```
$ curl http://192.168.77.9:{port}
curl: (7) Failed to connect to 192.168.77.9 port {port}: No route to host
```
"""


@pytest.mark.parametrize(
    ("said", "port", "certainty"),
    [
        ("The web page works on the host but not from outside.", 8088, 1.0),
        ("The Kubernetes NodePort works on the host but not from outside.", 30088, 0.8),
        ("The web page works on the host but not from outside.", 6443, 0.5),
    ],
)
def test_a_port_that_is_rejected(said: str, port: int, certainty: float) -> None:
    """What a NodePort is translated to may be what is unreachable."""
    (found,) = check(ticket_of(REJECTED.format(said=said, port=port)))

    assert certainty == found.certainty
    assert (f"--zone=public --add-port={port}/tcp" in str(found.repairs)) is (certainty > 0.5)
