"""A tunnel's port that is open to some nodes."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.peer_not_accepted import check
from tests.checks.pasted import found, ticket_of


def test_one_peer_alone() -> None:
    """The other nodes are not named."""
    text = """
-A INPUT -s 10.16.184.117/32 -p udp -m multiport --dports 4789 -j ACCEPT
"""
    assert found(check, text) == [
        (0.7, "-A INPUT -s 10.16.184.117/32 -p udp -m multiport --dports 4789 -j ACCEPT")
    ]


def test_a_range() -> None:
    """All nodes are in it."""
    text = """
-A INPUT -s 10.16.184.0/24 -p udp -m multiport --dports 4789 -j ACCEPT
"""
    assert found(check, text) == []


def test_another_packet_is_shown() -> None:
    """A capture shows the one that is left out."""
    text = """
-A INPUT -s 10.16.184.117/32 -p udp -m multiport --dports 4789 -j ACCEPT
$ tcpdump -ni eth0
12:00:00.000001 IP 10.16.184.118.4444 > 10.16.184.110.4789: VXLAN, flags [I] (0x08), vni 1
IP 10.1.1.1.1000 > 10.1.1.2.80: Flags [S], seq 1, win 100, length 0
"""
    assert found(check, text) == [
        (1.0, "-A INPUT -s 10.16.184.117/32 -p udp -m multiport --dports 4789 -j ACCEPT")
    ]


RULE = (
    "    $ iptables -S | grep 4789\n"
    "    -A INPUT -s 10.16.184.117/32 -p udp --dport 4789 -j ACCEPT\n"
)


@pytest.mark.parametrize(
    ("prose", "certainty"),
    [
        ("Packets of 10.16.184.118 to port 4789 get no answer.", 1.0),
        ("From 10.16.184.118 nothing arrives in the tunnel on port 4789.", 1.0),
        ("Packets of 10.16.184.117 to port 4789 get no answer.", 0.7),
        ("The host 10.16.184.118 gets no answer on port 22.", 0.7),
        ("Guests of 10.16.184.118 get no lease.", 0.7),
    ],
)
def test_people_name_the_one_that_is_left_out(prose: str, certainty: float) -> None:
    """Whose packets to that port get no answer; another port, or an accepted one, does not tell."""
    assert [certainty] == [one.certainty for one in check(ticket_of(f"{prose}\n\n{RULE}"))]
