"""The uplink without carrier."""

from __future__ import annotations

import pytest

from podpath.checks.links.uplink_down import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ ip link
2: eth0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
$ ip route
default via 192.168.1.1 dev eth0
```
"""
ALMOST = """\
```
$ ip link
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: eth1: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff
4: docker0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
$ ip route
default via 192.168.1.1 dev eth0
```
"""
HEALTHY = """\
```
$ ip link
1: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "NO-CARRIER" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "eth0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A card that nobody uses, and a bridge without containers."""
    assert [] == list(check(case_of_document(ticket)))


LISTED = """\
$ ip addr
1: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 10.9.9.9/24 scope global wlan0
2: {link}: <{flags}> mtu 1500 qdisc mq state {state}
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.168.10.1/24 scope global {link}
"""
DEAD, ALIVE = "NO-CARRIER,BROADCAST,MULTICAST,UP", "BROADCAST,MULTICAST,UP,LOWER_UP"


@pytest.mark.parametrize(
    ("prose", "link", "flags", "certainties"),
    [
        ("A ping by eth1 to the other card is not answered.", "eth1", DEAD, [1.0]),
        ("The camera on enp3s0 cannot be reached.", "enp3s0", DEAD, [1.0]),
        ("Nothing comes back on eth1 since the move.", "eth1", DEAD, [1.0]),
        ("A ping by eth0 to the other card is not answered.", "eth1", DEAD, []),
        ("A ping by eth1 to the other card is not answered.", "eth1", ALIVE, []),
        ("A container gets no answer by docker0.", "docker0", DEAD, []),
        ("A ping over wlan0 is not answered.", "eth1", DEAD, []),
        ("With eth1 unplugged, a ping over wlan0 is not answered.", "eth1", DEAD, []),
        ("Guests get no answer by virbr0.", "virbr0", DEAD, []),
    ],
)
def test_a_card_that_people_name(
    prose: str, link: str, flags: str, certainties: list[float]
) -> None:
    """Its missing carrier is the cause of what is said to be lost there; a bridge for containers
    has none while nothing runs.
    """
    shown = LISTED.format(link=link, flags=flags, state="UP" if flags == ALIVE else "DOWN")

    assert certainties == [
        one.certainty for one in check(ticket_of(f"{prose}\n\n```\n{shown}```\n"))
    ]


PING = """\
$ ping -I{link} -c1 192.168.10.2
PING 192.168.10.2 (192.168.10.2) from 192.168.10.1 eth1: 56(84) bytes of data.
From 192.168.10.1 icmp_seq=1 Destination Host Unreachable

--- 192.168.10.2 ping statistics ---
1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms
"""


@pytest.mark.parametrize(("tried", "certainties"), [("eth1", [1.0]), ("eth0", [])])
def test_a_card_by_which_somebody_pings(tried: str, certainties: list[float]) -> None:
    """The command names the dead card, or another one."""
    shown = LISTED.format(link="eth1", flags=DEAD, state="DOWN")
    blocks = f"```\n{shown}```\n\n```\n{PING.format(link=tried)}```\n"

    assert certainties == [one.certainty for one in check(ticket_of(f"No answer.\n\n{blocks}"))]


LEFT_OVER = """\
```
$ ip addr
2: eth0: <BROADCAST,MULTICAST{up}> mtu 1500 qdisc mq state UNKNOWN
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.5/24 brd 192.0.2.255 scope global eth0
3: br-old: <BROADCAST,MULTICAST> mtu 1500 qdisc noqueue state DOWN
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.9.0.1/24 brd 10.9.0.255 scope global br-old
```
"""


@pytest.mark.parametrize(("up", "told"), [(",UP,LOWER_UP", set()), ("", {"eth0", "br-old"})])
def test_a_bridge_that_may_be_left_over(up: str, told: set[str]) -> None:
    """It counts only where no other device with an address works."""
    found = check(case_of_document(LEFT_OVER.format(up=up)))
    assert {str(one.claim).partition(" ")[0] for one in found} == told
