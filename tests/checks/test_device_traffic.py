"""The counters of a device, gathered from outputs."""

from __future__ import annotations

from podpath.checks.device_traffic import list_traffic
from tests.assembly.evidence_text import case_of_document

TWICE = """\
```
$ cat /proc/net/dev
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0:       0       0    0    0    0     0          0         0    90000     100    0    0    0     0       0          0
$ ip -s link show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    RX: bytes  packets  errors  dropped overrun mcast
    540        9        0       0       0       0
    TX: bytes  packets  errors  dropped carrier collsns
    95000      120      0       0       0       0
```
"""  # noqa: E501


def test_of_several_outputs_the_last_counts() -> None:
    """What was heard later was heard."""
    (traffic,) = list_traffic(case_of_document(TWICE))

    assert ("eth0", 9, 120) == (
        traffic.link, traffic.count("rx_packets"), traffic.count("tx_packets"),
    )  # fmt: skip
    assert not traffic.hears_nothing
    assert traffic.count("rx_missed") is None
    assert "540" in traffic.span("rx_packets").text
