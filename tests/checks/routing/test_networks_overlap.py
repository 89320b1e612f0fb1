"""A bridge in the network of the LAN."""

from __future__ import annotations

import pytest

from podpath.checks.routing.networks_overlap import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FAULT = """\
```
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 172.17.5.9/16 brd 10.255.255.255 scope global eth0
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 172.17.0.1/16 scope global docker0
```
"""
ALMOST = """\
```
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 172.18.5.9/16 brd 10.255.255.255 scope global eth0
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 172.17.0.1/16 scope global docker0
```
"""
HEALTHY = """\
```
$ ip addr
3: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    inet 10.244.0.0/16 scope global flannel.1
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
    inet 10.244.0.1/24 scope global cni0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "172.17.0.1/16" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "docker0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Neighbouring networks, and an overlay that holds its bridges."""
    assert [] == list(check(case_of_document(ticket)))


SAID = """\
{said}

Kernel IP routing table
Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface
0.0.0.0         10.3.0.1        0.0.0.0         UG        0 0          0 eth0
10.3.0.0        0.0.0.0         255.255.255.0   U         0 0          0 eth0
172.28.0.0      {gateway}         255.255.0.0     U         0 0          0 {device}
"""
LAN = "Machines of the office LAN, 172.28.0.0/16, do not reach the host since Docker runs on it."
BRIDGE = "br-828c78b615e2"


def test_a_network_that_prose_places_outside() -> None:
    """It is possible: the range in the sentence may be that of the bridge."""
    (found,) = check(ticket_of(SAID.format(said=LAN, gateway="0.0.0.0", device=BRIDGE)))

    assert (0.7, 1) == (found.certainty, len(found.asks))
    assert BRIDGE in found.evidence[0].text


@pytest.mark.parametrize(
    ("said", "gateway", "device"),
    [
        (LAN, "10.3.0.9", "eth0"),
        (LAN, "0.0.0.0", "eth1"),
        (LAN.replace("172.28", "172.29"), "0.0.0.0", BRIDGE),
        ("Machines of the office LAN do not reach containers in 172.28.0.0/16.", "0.0.0.0", BRIDGE),
    ],
    ids=["routed", "card", "another", "containers"],
)
def test_a_network_that_is_where_it_is_said_to_be(said: str, gateway: str, device: str) -> None:
    """By a gateway or a card, in another range, or that of the containers themselves."""
    text = SAID.format(said=said, gateway=gateway, device=device)

    assert [] == list(check(ticket_of(text)))


INSIDE = """\
{said}

```
/ # ip route
default via 172.17.0.1 dev eth0
172.17.0.0/16 dev eth0  src 172.17.0.2
/ # hostname
web
```
"""
SERVER = "A container cannot reach our database server {}."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (SERVER.format("172.17.15.220") + " From the host it works.", [1.0]),
        (SERVER.format("172.17.15.220"), [0.7]),
        (SERVER.format("172.17.0.9") + " From the host it works.", []),
        (SERVER.format("10.9.9.9") + " From the host it works.", []),
        ("A container cannot reach the container 172.17.15.220.", []),
    ],
    ids=["outside", "unsaid", "first-addresses", "elsewhere", "container"],
)
def test_a_containers_own_network_over_one_outside(said: str, expected: list[float]) -> None:
    """Engines give their containers the first addresses of a network."""
    assert expected == [one.certainty for one in check(ticket_of(INSIDE.format(said=said)))]


def test_a_bridge_that_has_the_gateways_address() -> None:
    """What is sent to the gateway stays on the host, whichever route is longer."""
    listed = (
        "```\n$ ip addr\n"
        "2: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n"
        "    inet 192.168.0.42/24 brd 192.168.0.255 scope global wlan0\n"
        "3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n"
        "    inet 192.168.0.{last}/20 scope global docker0\n"
        "$ ip route\ndefault via 192.168.0.1 dev wlan0\n```\n"
    )
    found = [list(check(case_of_document(listed.format(last=last)))) for last in (1, 9)]

    assert [[1.0], [0.7]] == [[one.certainty for one in findings] for findings in found]


ROUTES = """\
default via 10.8.1.254 dev ens3
10.8.1.0/24 dev ens3 proto kernel scope link src 10.8.1.7
192.168.122.0/24 dev {device} proto kernel scope link src 192.168.122.1
"""


def sure_behind(prose: str, routes: str) -> list[float]:
    """Return how sure each finding of a ticket is."""
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n```\n# ip route\n{routes}```\n"))]


@pytest.mark.parametrize(
    ("device", "said", "expected"),
    [
        ("virbr0", "The file server 192.168.122.9 stands behind the router 10.8.1.254.", [1.0]),
        ("virbr0", "The office network is 192.168.122.0/25.", [0.7]),
        ("ens9", "The file server 192.168.122.9 stands behind the router 10.8.1.254.", [0.7]),
        ("virbr0", "The file server 192.168.123.9 stands behind the router 10.8.1.254.", []),
        ("virbr0", "The file server 192.168.122.9 is slow.", []),
        ("tun0", "The file server 192.168.122.9 stands behind the router 10.8.1.254.", []),
    ],
)
def test_a_sentence_places_the_address_behind_a_router(
    device: str, said: str, expected: list[float]
) -> None:
    """Certain where a bridge of containers or guests has its network and one address is meant."""
    prose = f"{said} The build host does not reach it; it times out."

    assert expected == sure_behind(prose, ROUTES.format(device=device))


def test_a_route_by_a_gateway_has_the_bridges_network_in_it() -> None:
    """Where the failing address lies in it, nothing is left open."""
    routes = ROUTES.format(device="virbr0") + "192.168.0.0/16 via 10.8.1.1 dev ens3\n"

    assert [1.0] == sure_behind("The host does not reach 192.168.122.9; it times out.", routes)
    assert [0.7] == sure_behind("The host does not reach the file server.", routes)
    assert [] == sure_behind("The host does not reach 192.168.40.9; it times out.", routes)
