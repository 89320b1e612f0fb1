"""Dropping rules that have counted."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.drop_counter import check
from podpath.diagnosis.placeholders import Placeholders
from tests.checks.pasted import case_of, found, ticket_of


def test_the_one_that_counted_most() -> None:
    """An excerpt shows it."""
    text = """
$ iptables -nvL INPUT
Chain INPUT (policy ACCEPT 10 packets, 600 bytes)
 pkts bytes target     prot opt in     out     source               destination
   10   600 ACCEPT     all  --  lo     *       0.0.0.0/0            0.0.0.0/0
 3312  198K DROP       tcp  --  *      *       10.0.0.0/8           0.0.0.0/0            tcp dpt:6443
"""  # noqa: E501
    assert found(check, text) == [
        (0.7, "3312 198K DROP tcp -- * * 10.0.0.0/8 0.0.0.0/0 tcp dpt:6443")
    ]


def test_one_that_counted_nothing() -> None:
    """No packet has met it."""
    text = """
$ iptables -nvL INPUT
Chain INPUT (policy ACCEPT 10 packets, 600 bytes)
 pkts bytes target     prot opt in     out     source               destination
    0     0 DROP       tcp  --  *      *       10.0.0.0/8           0.0.0.0/0            tcp dpt:6443
"""  # noqa: E501
    assert found(check, text) == []


def test_a_row_without_its_chain() -> None:
    """What it counted is told; the answer has words for a chain without a name."""
    text = "37 2220 REJECT all -- any any anywhere anywhere reject-with icmp-port-unreachable"
    case = case_of(text)
    told = Placeholders(case).of_finding(*check(case))

    assert "?" not in str(told.claim)
    assert "iptables -Z CHAIN;" in told.asks[0].command


@pytest.mark.parametrize(("device", "told"), [("virbr0", False), ("eth0", True)])
def test_a_rule_for_guests_counts_nothing_of_pods(device: str, told: bool) -> None:  # noqa: FBT001
    """It is for a bridge of virtual machines, and pods are cut off."""
    row = f"12 720 REJECT all -- {device} * 0.0.0.0/0 0.0.0.0/0 reject-with icmp-port-unreachable"
    text = f"Pods do not reach a service.\n\n```\n{LISTED}{row}\n```\n"

    assert told == bool(list(check(ticket_of(text))))


LISTED = """\
Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)
 pkts bytes target     prot opt in     out     source               destination
"""
