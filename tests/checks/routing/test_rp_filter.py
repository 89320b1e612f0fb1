"""Answers that come back another way than what they answer went, and a node that refuses them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.routing import rp_filter
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause
from podpath.net.provenance import Known
from podpath.node.cluster import Cluster
from podpath.node.node import HOST, Node
from podpath.testing.nodes import span
from tests.checks.pasted import ticket_of
from tests.datapath.devices.test_underlay import PROBE, routed

FIRST = routed(0, more="eth1 198.51.100.1/24")
RETURNS = routed(1, "10.244.0.0/24 via 198.51.100.1 dev eth1", more="eth1 198.51.100.2/24")
"""A node that sends its answers by its second uplink."""
STRAIGHT = routed(1, more="eth1 198.51.100.2/24")


def filtering(node: Node, value: str, link: str = "eth1") -> Node:
    """Return a node whose reverse-path filter has a value on a device."""
    key = f"net.ipv4.conf.{link}.rp_filter"
    known = Known(value, span(f"{key} = {value}"))
    host = replace(node.host, sysctls={**node.host.sysctls, key: known})
    return replace(node, namespaces={**node.namespaces, HOST: host})


def test_an_answer_by_another_device_meets_a_strict_filter() -> None:
    """The node that asked drops it, by its own line, whatever the node that answers has."""
    node = Cluster(nodes={"a": filtering(FIRST, "1"), "b": RETURNS}).seen_from("a")
    branch = converse(node, PROBE).branches[0]

    cause = find_cause(node, branch)

    assert cause is not None
    assert (cause.check, cause.step.netns) == (rp_filter.NAME, "host")
    assert (cause.trace.name, cause.step.link) == ("SYN-ACK", "eth1")
    assert "net.ipv4.conf.eth1.rp_filter = 1" in [each.text for each in cause.step.spans]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (filtering(FIRST, "0"), RETURNS),
        (filtering(FIRST, "2"), RETURNS),
        (filtering(FIRST, "1"), STRAIGHT),
        (filtering(FIRST, "1", "eth0"), RETURNS),
    ],
)
def test_what_lets_answers_in(here: Node, there: Node) -> None:
    """No filter, a loose one, answers by the same device, and a filter on the other device."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")

    assert converse(node, PROBE).verdict == "ALWAYS"


GRE = """\
Packets from 10.20.0.0/16 that come in by gre-b get no answer, those by gre-a do.

```
# sysctl net.ipv4.conf.all.rp_filter net.ipv4.conf.gre-a.rp_filter net.ipv4.conf.gre-b.rp_filter
net.ipv4.conf.all.rp_filter = {total}
net.ipv4.conf.gre-a.rp_filter = 0
net.ipv4.conf.gre-b.rp_filter = {own}
{more}
```
"""
CAPTURE = """\
# tcpdump -ni gre-b icmp
10:00:00.000001 IP 10.20.0.5 > 192.0.2.80: ICMP echo request, id 1, seq 1, length 64
# ip route get 10.20.0.5
10.20.0.5 {way} src 192.0.2.80 uid 0"""
AWAY, STRAIGHT_BACK = "via 192.0.2.1 dev eth0", "dev gre-b"
IN_POD = CAPTURE.format(way=AWAY).replace("ip route get", "ip netns exec web ip route get")


@pytest.mark.parametrize(
    ("total", "own", "more", "certainties"),
    [
        ("0", "1", CAPTURE.format(way=AWAY), [1.0]),
        ("0", "1", CAPTURE.format(way=STRAIGHT_BACK), []),
        ("0", "1", "", [0.65]),
        ("0", "1", IN_POD, [0.65]),
        ("0", "2", CAPTURE.format(way=AWAY), [0.65]),
        ("0", "0", CAPTURE.format(way=AWAY), []),
        ("2", "1", "", []),
    ],
    ids=["away", "straight", "alone", "of a pod", "loose", "off", "all"],
)
def test_a_device_made_at_run_time(
    total: str, own: str, more: str, certainties: list[float]
) -> None:
    """A packet that a capture shows, and the kernel's own answer on the way back, settle it."""
    found = rp_filter.check(ticket_of(GRE.format(total=total, own=own, more=more)))

    assert certainties == [one.certainty for one in found]


CARDS = """\
What is bound to the second card gets no answer.

```
# ping -c2 -I ens9 9.9.9.9
2 packets transmitted, 0 received, 100% packet loss
# tcpdump -ni {heard} icmp
21:14:03.101 IP 9.9.9.9 > 192.168.60.32: ICMP echo reply, id 44, seq 1, length 64
# ip -br addr
ens8  UP  192.168.60.31/24
ens9  UP  {second}
# sysctl net.ipv4.conf.ens8.rp_filter net.ipv4.conf.ens9.rp_filter net.ipv4.conf.all.rp_filter
net.ipv4.conf.ens8.rp_filter = {value}
net.ipv4.conf.ens9.rp_filter = {value}
net.ipv4.conf.all.rp_filter = {value}
```
"""


@pytest.mark.parametrize(
    ("heard", "second", "value", "certainties"),
    [
        ("ens8", "192.168.60.32/24", "1", [0.8]),
        ("ens9", "192.168.60.32/24", "1", []),
        ("ens8", "192.168.60.32/24", "0", []),
        ("ens8", "192.168.60.32/28", "1", []),
    ],
    ids=["other", "own", "off", "apart"],
)
def test_two_cards_of_one_network(
    heard: str, second: str, value: str, certainties: list[float]
) -> None:
    """An answer that comes in on the other card is lost where the route back is not by it."""
    found = rp_filter.check(ticket_of(CARDS.format(heard=heard, second=second, value=value)))

    assert certainties == [one.certainty for one in found]


TOLD = """\
Requests from 10.8.0.0/16 that arrive on {device} get no answer.

```
# sysctl -a | grep '\\.rp_filter'
net.ipv4.conf.all.rp_filter = 0
net.ipv4.conf.eth0.rp_filter = 0
net.ipv4.conf.eth1.rp_filter = 1
# ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.20
172.16.5.0/24 dev eth1 proto kernel scope link src 172.16.5.20
```
"""


@pytest.mark.parametrize(("device", "certainties"), [("eth1", [0.85]), ("eth0", [])])
def test_by_which_device_it_comes_only_people_say(device: str, certainties: list[float]) -> None:
    """The table and the switch are shown, and the way in is not."""
    found = rp_filter.check(ticket_of(TOLD.format(device=device)))

    assert certainties == [one.certainty for one in found]
