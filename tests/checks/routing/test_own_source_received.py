"""Packets from outside with the host's own address."""

from __future__ import annotations

import pytest

from podpath.checks.routing.martian_source import check as check_martians
from podpath.checks.routing.own_source_received import check
from tests.checks.pasted import case_of

ADDRESS = """\
# ip addr show {link}
3390: {link}: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1500
    inet {address}/32 scope global {link}
"""
SEEN = """\
# tcpdump -nn -i any port 10001
22:36:35.336643 {link}  {way}  IP 172.30.0.1.41626 > {dst}.10001: Flags [S], seq 1, win 100, length 0
"""  # noqa: E501


def text(
    *, link: str = "tun0", way: str = "In", address: str = "172.30.0.1", dst: str = "192.168.255.8"
) -> str:
    """Return an address of the host, and a captured packet."""
    held = ADDRESS.format(link="tun0", address=address)
    return f"{held}{SEEN.format(link=link, way=way, dst=dst)}"


@pytest.mark.parametrize(
    ("pasted", "certainty"),
    [
        (text(), 1.0),
        (text(dst="8.8.8.8"), 1.0),
        (text(link="eth0"), 0.6),
        (text(link="wg0"), 0.6),
        (text(link="br0"), 0.6),
        (text().replace("# ip", "root@a:~# ip").replace("# tcpdump", "root@b:~# tcpdump"), 0.6),
        (text().replace("# ip", "root@a:~# ip").replace("# tcpdump", "root@a:~# tcpdump"), 1.0),
    ],
)
def test_a_packet_with_an_own_source_comes_in(pasted: str, certainty: float) -> None:
    """Certain from the device that holds it, on the same host: an Ethernet may bring a host's own
    frames back.
    """
    (found,) = check(case_of(pasted))

    assert (certainty, 2) == (found.certainty, len(found.evidence))


@pytest.mark.parametrize(
    "pasted",
    [
        text(way="Out"),
        text(link="lo"),
        text(address="172.30.0.9"),
        text(dst="224.0.0.18"),
        text(dst="172.30.0.255"),
        f"# sysctl net.ipv4.conf.tun0.accept_local\nnet.ipv4.conf.tun0.accept_local = 1\n{text()}",
    ],
)
def test_what_is_allowed_or_is_another_packet(pasted: str) -> None:
    """What leaves, the loop, others' addresses, groups, and a host that takes such packets."""
    assert not list(check(case_of(pasted)))


MARTIAN = "[13225.481477] IPv4: martian source 10.42.0.10 from 10.37.0.1, on dev datapath\n"
PING = (
    "# ping 10.42.0.10\nPING 10.42.0.10 (10.42.0.10) 56(84) bytes of data.\n"
    "From {} icmp_seq=1 Destination Host Unreachable\n"
)


@pytest.mark.parametrize(
    "beside",
    [PING.format("10.37.0.1"), "# ip -br addr\ndatapath UP 10.37.0.1/12\n"],
    ids=["ping", "listing"],
)
def test_a_martian_from_an_own_address_is_no_matter_of_the_filter(beside: str) -> None:
    """The host's own address is listed, or told by its own ping; who sends it is asked."""
    case = case_of(f"{beside}# dmesg\n{MARTIAN}")
    (found,) = check(case)

    assert (0.8, 1) == (found.certainty, len(found.asks))
    assert not list(check_martians(case))


@pytest.mark.parametrize("beside", ["", PING.format("10.37.0.9")])
def test_a_martian_from_elsewhere_is_one_of_the_filter(beside: str) -> None:
    """Whose address it is nothing tells."""
    case = case_of(f"{beside}# dmesg\n{MARTIAN}")

    assert not list(check(case))
    assert list(check_martians(case))
