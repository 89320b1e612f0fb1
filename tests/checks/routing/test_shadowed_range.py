"""A route that hides a part of another node's range."""

from __future__ import annotations

import pytest

from podpath.checks.routing.shadowed_range import check
from tests.assembly.evidence_text import case_of_document

LINKS = """\
```
$ ip -d link
3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    bridge forward_delay 1500
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
    vxlan id 1 local 192.168.50.11 dev eth0 dstport 8472 nolearning
$ ip addr show cni0
3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
    inet 10.244.1.1/24 brd 10.244.1.255 scope global cni0
$ ip route
10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1
10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink
{}
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The leftover route is quoted first, then the one that it hides."""
    found = next(check(case_of_document(LINKS.format("10.244.2.0/25 dev cni0 scope link"))))
    assert [
        "10.244.2.0/25 dev cni0 scope link",
        "10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink",
    ] == [span.text for span in found.evidence]
    assert ("ip route del 10.244.2.0/25 dev cni0",) == found.repairs[0].commands


@pytest.mark.parametrize(
    "route",
    [
        "10.244.3.0/25 dev cni0 scope link",
        "10.244.2.0/25 via 10.244.2.9 dev flannel.1 onlink",
        "10.244.1.128/25 dev cni0 scope link",
    ],
)
def test_what_only_looks_like_it_is_let_be(route: str) -> None:
    """Another range, another tunnel end, and the node's own range hide nothing of that node's."""
    assert [] == list(check(case_of_document(LINKS.format(route))))
