"""Firewalld's zones."""

from __future__ import annotations

from podpath.checks.netfilter.firewall_zone import check
from tests.checks.pasted import found


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
