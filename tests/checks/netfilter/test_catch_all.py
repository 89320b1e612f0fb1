"""Rules without conditions that end every packet."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.catch_all import check
from tests.checks.pasted import found, ticket_of


def test_fedoras_default_is_enough() -> None:
    """It stands alone in FORWARD, so nothing is accepted before it."""
    text = """
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
-A INPUT -j REJECT --reject-with icmp-host-prohibited
"""
    assert found(check, text) == [(1.0, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_rules_below_are_never_asked() -> None:
    """The plugin's jump stands below."""
    text = """
$ iptables -S FORWARD
-P FORWARD ACCEPT
-A FORWARD -i eth9 -j ACCEPT
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
-A FORWARD -j KUBE-FORWARD
"""
    assert found(check, text) == [(1.0, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_a_filtered_listing_hides_what_stands_above() -> None:
    """With a grep the accepts may be left out."""
    text = """
$ iptables -S | grep REJECT
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
"""
    assert found(check, text) == [(0.7, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_an_accept_above_makes_it_a_default() -> None:
    """Docker's rules stand before it."""
    text = """
$ iptables -S FORWARD
-P FORWARD ACCEPT
-A FORWARD -j DOCKER-FORWARD
-A FORWARD -j REJECT
"""
    assert found(check, text) == []


UFW = """\
# iptables -nvL FORWARD
Chain FORWARD (policy DROP {policy} packets, 0 bytes)
 pkts bytes target     prot opt in     out     source               destination
   31  1860 ufw-reject-forward  0    --  *      *       0.0.0.0/0            0.0.0.0/0
  {accept}     0 ACCEPT     0    --  docker0 !docker0  0.0.0.0/0            0.0.0.0/0
"""


@pytest.mark.parametrize(
    ("policy", "accept", "certainties"), [(0, 0, [1.0]), (7, 0, [0.7]), (0, 31, [])]
)
def test_ufws_rejecting_chain_is_judged_by_counters(
    policy: int, accept: int, certainties: list[float]
) -> None:
    """What entered it and is counted nowhere below ended there."""
    text = UFW.format(policy=policy, accept=accept)

    assert certainties == [certainty for certainty, _ in found(check, text)]


WITHOUT_DEVICES = """\
Pods on node n4 cannot reach the API service: {said}.

```
# iptables -nL FORWARD
Chain FORWARD (policy ACCEPT)
target     prot opt source               destination
REJECT     all  --  0.0.0.0/0            0.0.0.0/0            reject-with {kind}
ACCEPT     all  --  10.42.0.0/16         0.0.0.0/0
```
"""


@pytest.mark.parametrize(
    ("said", "kind", "certainties"),
    [
        ("no route to host", "icmp-host-prohibited", [0.7]),
        ("connection refused", "icmp-port-unreachable", [0.7]),
        ("timeouts", "icmp-host-prohibited", []),
        ("no route to host", "icmp-port-unreachable", []),
    ],
)
def test_a_listing_without_devices_is_believed_by_half(
    said: str, kind: str, certainties: list[float]
) -> None:
    """The rule may be for one device alone; it has to fit what people meet."""
    case = ticket_of(WITHOUT_DEVICES.format(said=said, kind=kind))

    assert certainties == [one.certainty for one in check(case)]
