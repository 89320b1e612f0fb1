"""What outputs of two hosts have alike."""

from __future__ import annotations

import pytest

from podpath.net.clashes import Clash, ClashKind
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


NEIGHBOR = """
Pods cannot reach pods of the other node.

On node A:

```
# ip neigh show dev flannel.1
10.244.2.0 lladdr {used} {state}
```

On node {host}:

```
# ip link show {device}
7: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 6e:5f:2a:91:c4:99 brd ff:ff:ff:ff:ff:ff
# ip -4 addr show {device}
7: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    inet {held}/32 scope global {device}
```
"""


def neighbor_clashes(
    used: str = "6e:5f:2a:91:c4:02",
    state: str = "PERMANENT",
    host: str = "B",
    device: str = "flannel.1",
    held: str = "10.244.2.0",
) -> tuple[Clash, ...]:
    """Return what two outputs say of a tunnel's end."""
    text = NEIGHBOR.format(used=used, state=state, host=host, device=device, held=held)
    return ticket_of(text).clashes


def test_an_entry_for_a_tunnels_end_with_another_mac() -> None:
    """Its device and its address may stand in two outputs."""
    (clash,) = neighbor_clashes()

    assert (ClashKind.TUNNEL_NEIGHBOR, "10.244.2.0") == (clash.kind, clash.key)
    assert ("6e:5f:2a:91:c4:02", "6e:5f:2a:91:c4:99") == clash.values
    assert ("a", "b") == clash.hosts


@pytest.mark.parametrize(
    "other",
    [
        {"used": "6e:5f:2a:91:c4:99"},
        {"state": "STALE"},
        {"host": "A"},
        {"device": "vxlan.calico"},
        {"held": "10.244.3.0"},
    ],
    ids=str,
)
def test_an_entry_that_agrees_or_is_of_something_else(other: dict[str, str]) -> None:
    """The same MAC, one that was learned, one host, and another tunnel or end."""
    assert () == neighbor_clashes(**other)
