"""address-conflict: another host uses the same IP address, as the kernel, DHCP or an agent says."""

from __future__ import annotations

import pytest

import podpath
from podpath.checks.links.address_conflict import NAME
from podpath.library.given import Pasted
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "dhclient[11]: DHCPDECLINE of 10.0.0.226 on enp0s3 to 255.255.255.255 port 67",
        "Calico node 'w1' is already using the IPv4 address 192.168.1.5.",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [
        ("fault", 1.0, line)
    ]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert (
        find_by_lines(
            NAME, "dhclient[11]: DHCPREQUEST for 10.0.0.226 on enp0s3 to 255.255.255.255 port 67"
        )
        == []
    )


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []


def test_leases_of_two_clients_are_quoted_first() -> None:
    """The server's own words name both, and say more than the client that declines."""
    lines = (
        "dhcpd: DHCPACK on 10.0.0.226 to 02:00:00:00:00:01 (a) via eth0",
        "dhcpd: DHCPOFFER on 10.0.0.226 to 02:00:00:00:00:02 (b) via eth0",
        "dhcpd: DHCPDECLINE of 10.0.0.226 from 02:00:00:00:00:02 via eth0",
    )
    (found,) = find_by_lines(NAME, *lines)
    assert {one.text for one in found.evidence[:2]} == set(lines[:2])
    (alone,) = find_by_lines(NAME, lines[1], lines[2])
    assert alone.evidence[0].text == lines[2]


CARD = "40:55:48:45:f0:47"
OTHER = "02:00:00:00:00:09"
SEEN = f"conflict detected for IP address 192.168.2.158 with host {CARD.upper()}"


def list_links(mac: str) -> str:
    """Return what `ip link` prints of a host with one card."""
    link = f"3: wlan0: <UP> mtu 1500 state UP\n    link/ether {mac} brd ff:ff:ff:ff:ff:ff"
    return f"```\n$ ip link\n{link}\n```\n"


@pytest.mark.parametrize(
    ("shown", "certainty", "says"),
    [
        ("", 0.7, "Another host"),
        (list_links(CARD), 1.0, "itself"),
        (list_links(OTHER), 1.0, "Another host"),
    ],
)
def test_a_named_mac_may_be_of_an_own_card(shown: str, certainty: float, says: str) -> None:
    """A host answers for its addresses on all of its cards; its links tell whose the MAC is."""
    answer = podpath.diagnose(Pasted(f"It is slow.\n\n{shown}```\n{SEEN}\n```\n", "ticket.md"))
    (found,) = (one for one in answer.findings if one.check == NAME)

    assert found.certainty == certainty
    assert says in str(found.claim)
    assert bool(found.asks) == (certainty < 1)


def test_a_mac_of_another_address_may_answer_for_others() -> None:
    """A router's MAC is in the header of its own packets: it may be proxy ARP."""
    taken = (
        "NetworkManager[7]: device (eth0): IP address 10.0.0.9 cannot be configured because it is "
        "already in use in the network by host 02:08:97:AA:00:01"
    )
    header = "kernel: ll header: 00000000: 1a 64 e0 0b 73 77 02 08 97 aa 00 01 08 00"

    assert [one.certainty for one in find_by_lines(NAME, taken, header)] == [0.7]
    assert "proxy ARP" in str(find_by_lines(NAME, taken, header)[0].claim)
