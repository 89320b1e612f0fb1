"""What outputs of two hosts have alike."""

from __future__ import annotations

from podpath.net.clashes import ClashKind
from tests.checks.pasted import ticket_of

TWO = """
Pods cannot reach pods of the other node.

{first}

```
$ ip -d link show flannel.1
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 6e:5f:2a:91:c4:10 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 1 local 192.0.2.11 dev eth0 srcport 0 0 dstport 8472 nolearning ttl inherit
```

{second}

```
$ ip -d link show flannel.1
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 6e:5f:2a:91:c4:10 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 1 local {local} dev eth0 srcport 0 0 dstport 8472 nolearning ttl inherit
```
"""


def test_a_tunnels_mac_on_two_named_hosts() -> None:
    """The hosts have different ends and one MAC."""
    case = ticket_of(TWO.format(first="node1:", second="node2:", local="192.0.2.12"))
    (clash,) = case.clashes

    assert (ClashKind.TUNNEL_MAC, ("node1", "node2")) == (clash.kind, clash.hosts)
    assert ("192.0.2.11", "192.0.2.12") == clash.values


def test_hosts_that_nothing_names_are_not_told_apart() -> None:
    """They may be one host before and after its address changed."""
    text = TWO.format(first="Working:", second="Not working:", local="192.0.2.12")
    assert () == ticket_of(text).clashes
    text = TWO.format(first="node1:", second="node2:", local="192.0.2.11")
    assert () == ticket_of(text).clashes
