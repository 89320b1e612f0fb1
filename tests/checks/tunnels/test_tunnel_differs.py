"""One tunnel, set up differently on two nodes."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.tunnels.tunnel_differs import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

```
[root@node1 ~]# ip -d link show {device}
4: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 6e:5f:2a:91:c4:10 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 1 local 192.0.2.11 dev eth0 srcport 0 0 dstport 8472 nolearning ttl inherit
[root@{host} ~]# ip -d link show flannel.1
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 6e:5f:2a:91:c4:11 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id {number} local 192.0.2.12 dev eth0 srcport 0 0 dstport {port} nolearning ttl inherit
```
"""


def findings(
    complaint: str = "Pods cannot reach pods of the other node.",
    host: str = "node2",
    device: str = "flannel.1",
    number: int = 1,
    port: int = 8472,
) -> list[Finding]:
    """Return what is found in a ticket with the tunnel of two nodes."""
    text = TICKET.format(complaint=complaint, host=host, device=device, number=number, port=port)
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(("number", "port"), [(1, 4789), (4096, 8472)])
def test_a_port_or_an_identifier_differs(number: int, port: int) -> None:
    """Both devices are quoted."""
    (finding,) = findings(number=number, port=port)

    assert (1.0, 2) == (finding.certainty, len(finding.evidence))


def test_another_complaint_leaves_it_open() -> None:
    """What fails may not go through the tunnel."""
    (finding,) = findings("The web page hangs.", port=4789)

    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("host", "device", "port"),
    [("node2", "flannel.1", 8472), ("node1", "flannel.1", 4789), ("node2", "vxlan0", 4789)],
)
def test_tunnels_that_agree_or_are_others(host: str, device: str, port: int) -> None:
    """A healthy twin, one host in two states, and two devices of different names."""
    assert not findings(host=host, device=device, port=port)
