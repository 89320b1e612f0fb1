"""Default gateways of several devices in configuration files."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.routing.gateways_compete import check
from tests.checks.pasted import ticket_of

NETPLAN = """\
$ cat /etc/netplan/50-cloud.yaml
network:
  version: 2
  ethernets:
    eth0:
      addresses: [192.0.2.7/24]
      routes:
        - to: default
          via: 192.0.2.1
          metric: {metric}
    eth1:
      addresses: [10.0.0.7/24]
      routes:
        - to: {to}
          via: 10.0.0.1
          {rest}
"""
REFUSED = (
    "Conflicting default route declarations for IPv4 (table: main, metric: 0), first declared in "
    "eth1 but also in eth0"
)
IFCFG = """\
$ cat /etc/sysconfig/network-scripts/ifcfg-eth{number}
DEVICE=eth{number}
IPADDR=10.{number}.0.7
PREFIX=24
GATEWAY=10.{number}.0.1
{rest}
"""
FAILS = "The server cannot be reached from outside."


def findings(listing: str, prose: str = FAILS) -> list[Finding]:
    """Return what is found in a ticket with files."""
    return list(check(ticket_of(f"{prose}\n\n```\n{listing}\n```\n")))


def test_two_default_routes_of_one_metric() -> None:
    """Which of them counts is not shown."""
    (finding,) = findings(NETPLAN.format(metric=0, to="0.0.0.0/0", rest="metric: 0"))

    assert ["via: 192.0.2.1", "via: 10.0.0.1"] == [one.text.strip() for one in finding.evidence]
    assert finding.certainty < 1


def test_netplan_says_so_itself() -> None:
    """Its line makes it certain, with the file and without it."""
    file = NETPLAN.format(metric=0, to="0.0.0.0/0", rest="metric: 0")

    assert [[1.0], [1.0]] == [
        [one.certainty for one in findings(text)] for text in (f"{REFUSED}.\n{file}", REFUSED)
    ]


def test_netplan_says_so_of_other_devices() -> None:
    """What it says of two others does not make it certain of these."""
    file = NETPLAN.format(metric=0, to="0.0.0.0/0", rest="metric: 0")
    others = REFUSED.replace("eth1", "eth5")

    (finding,) = findings(f"{others}\n{file}")
    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("to", "rest"),
    [
        ("default", "metric: 200"),
        ("10.0.0.0/8", "metric: 100"),
        ("default", "table: 101"),
    ],
)
def test_routes_that_do_not_compete(to: str, rest: str) -> None:
    """Another metric, another destination, a table of its own."""
    assert not findings(NETPLAN.format(metric=100, to=to, rest=rest))


@pytest.mark.parametrize("rest", ["DEFROUTE=no", "METRIC=200"])
def test_a_card_that_forgoes_it(rest: str) -> None:
    """ifcfg says it by other words."""
    first, second = IFCFG.format(number=0, rest=""), IFCFG.format(number=1, rest="{rest}")

    assert findings(first + second.format(rest=""))
    assert not findings(first + second.format(rest=rest))


def test_nothing_fails() -> None:
    """Hosts with two gateways exist that work."""
    assert not findings(
        NETPLAN.format(metric=0, to="default", rest="metric: 0"), prose="Two cards."
    )
