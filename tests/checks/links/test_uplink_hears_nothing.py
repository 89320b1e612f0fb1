"""A card that only talks."""

from __future__ import annotations

import pytest

from podpath.checks.links.uplink_hears_nothing import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip -s link show {device}
2: {device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff{kind}
    RX: bytes  packets  errors  dropped overrun mcast
    0          {rx}        0       0       0       0
    TX: bytes  packets  errors  dropped carrier collsns
    91230      1177     0       0       0       0
```
"""


@pytest.mark.parametrize("device", ["eth1", "enp3s0", "bond0", "eth0.100"])
def test_a_card_that_hears_nothing_is_told(device: str) -> None:
    """With the lines of both counters; it is possible."""
    (found,) = check(case_of_document(FAULT.format(device=device, rx=0, kind="")))

    assert f"{device} has sent 1177 packets" in str(found.claim)
    assert 0.6 == found.certainty
    assert "RX: bytes" in found.evidence[0].text


@pytest.mark.parametrize(
    ("device", "rx", "kind"),
    [
        ("eth1", 12, ""),
        ("docker0", 0, ""),
        ("veth12", 0, ""),
        ("eth1", 0, "\n    veth addrgenmode eui64"),
    ],
)
def test_what_only_looks_like_it_is_let_be(device: str, rx: int, kind: str) -> None:
    """One that heard something, a bridge without guests, and ends of virtual cables."""
    ticket = FAULT.format(device=device, rx=rx, kind=kind)

    assert [] == list(check(case_of_document(ticket)))


def test_a_pod_that_hears_nothing_is_no_card() -> None:
    """What a pod's eth0 hears depends on the host's side of its cable."""
    ticket = FAULT.format(device="eth0", rx=0, kind="").replace(
        "$ ip", "$ kubectl exec web-1 -- ip"
    )

    assert [] == list(check(case_of_document(ticket)))
