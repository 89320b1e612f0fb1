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
