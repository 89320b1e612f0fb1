"""A load balancer's address on the node."""

from __future__ import annotations

import pytest

from podpath.checks.services.balancer_address_on_node import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ ip addr show kube-ipvs0
5: kube-ipvs0: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default
    inet 170.106.134.124/32 scope global kube-ipvs0
```
"""
ALMOST = """\
```
$ ip addr show kube-ipvs0
5: kube-ipvs0: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default
    inet 10.96.0.1/32 scope global kube-ipvs0
```
"""
HEALTHY = """\
```
$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "170.106.134.124" in found.evidence[0].text
    assert 0.6 == found.certainty
    assert "170.106.134.124" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A service's own address belongs there."""
    assert [] == list(check(case_of_document(ticket)))


LOST = "The NodePort times out from outside."
SYN = (
    "```\n$ tcpdump -ni eth0\n12:00:00.000001 IP {source}.4444 > 10.0.0.5.30080: Flags [S], "
    "seq 1, win 100, length 0\n```\n"
)


@pytest.mark.parametrize(
    ("said", "shown", "certainty"),
    [
        (f"{LOST} The balancer's probes come from that same address.", "", 1.0),
        (f"{LOST} Health checks come from the load balancer's own address.", "", 1.0),
        (LOST, SYN.format(source="170.106.134.124"), 1.0),
        (LOST, SYN.format(source="170.106.134.125"), 0.6),
        (LOST, "", 0.6),
        (f"{LOST} Kubelet's probes come from the node's own address.", "", 0.6),
    ],
)
def test_packets_from_that_address_make_it_certain(said: str, shown: str, certainty: float) -> None:
    """A capture shows them, or people say that the balancer's probes are such."""
    assert [certainty] == [one.certainty for one in check(ticket_of(f"{said}\n\n{FAULT}{shown}"))]
