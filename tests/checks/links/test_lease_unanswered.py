"""Clients that ask for a lease and get no answer."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.links.lease_unanswered import check
from tests.checks.pasted import ticket_of

LONG = """\
10:00:0{second}.000001 IP (tos 0x0, ttl 64, id 0, flags [none], proto UDP (17), length 328)
    0.0.0.0.68 > 255.255.255.255.67: [udp sum ok] BOOTP/DHCP, Request from 52:54:00:aa:bb:cc, \
length 300, xid 0x1234abcd, Flags [none] (0x0000)
\t  Client-Ethernet-Address 52:54:00:aa:bb:cc
\t  Vendor-rfc1048 Extensions
\t    Magic Cookie 0x63825363
\t    DHCP-Message Option 53, length 1: Discover
"""
SHORT = (
    "10:00:0{second}.000001 IP 0.0.0.0.68 > 255.255.255.255.67: BOOTP/DHCP, Request from "
    "52:54:00:aa:bb:cc, length 300\n"
)
REPLY = "10:00:09.000001 IP 192.0.2.1.67 > 192.0.2.50.68: BOOTP/DHCP, Reply, length 300\n"


def findings(lines: str, said: str = "Guests get no address.") -> list[Finding]:
    """Return what is found in a ticket with a capture."""
    return list(check(ticket_of(f"{said}\n\n```\n# tcpdump -vn -i br0 port 67\n{lines}```\n")))


@pytest.mark.parametrize("line", [LONG, SHORT])
def test_requests_without_a_reply(line: str) -> None:
    """In one line or in many."""
    (found,) = findings(line.format(second=1) + line.format(second=4))

    assert found.certainty < 1
    assert ("52:54:00:aa:bb:cc",) == found.marks


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (SHORT.format(second=1) + SHORT.format(second=4) + REPLY, "Guests get no address."),
        (SHORT.format(second=1), "Guests get no address."),
        (SHORT.format(second=1) + SHORT.format(second=4), "All is well."),
    ],
)
def test_a_reply_one_request_and_no_complaint(lines: str, said: str) -> None:
    """None of them is a fault."""
    assert not findings(lines, said)
