"""The kernel's own answer to the question for a way."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_refused import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route get 10.96.0.1
RTNETLINK answers: Network is unreachable
```
"""
ALMOST = """\
```
$ ip route add 10.96.0.0/12 via 10.0.0.1
RTNETLINK answers: File exists
```
"""
HEALTHY = """\
```
$ ip route get 10.96.0.1
10.96.0.1 via 192.168.1.1 dev eth0 src 192.168.1.5 uid 0
    cache
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "Network is unreachable" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "no route to 10.96.0.1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """An error of another command, and a way."""
    assert [] == list(check(case_of_document(ticket)))


@pytest.mark.parametrize("match", ["[Match]\nName=eno1\n", ""])
def test_a_configured_gateway_leaves_open_why_it_is_no_route(match: str) -> None:
    """A route that the host's configuration wants is what is to be explained, also where that is
    not read.
    """
    wanted = f"```\n{match}[Network]\nAddress=203.0.113.40/32\n[Route]\nGateway=192.0.2.1\n```\n"
    without = wanted.replace("[Route]\nGateway=192.0.2.1\n", "")
    found = next(check(case_of_document(FAULT + wanted)))

    assert found.certainty < 1.0
    assert "Network is unreachable" in found.evidence[0].text
    assert "GatewayOnLink=yes" in found.asks[0].decides
    assert 1.0 == next(check(case_of_document(FAULT + without))).certainty


LEGS = """\
A router with two legs; a PC behind one leg (10.44.3.20) reaches nothing in the office.

```
$ ip route
default via 172.20.0.1 dev lan1
10.44.3.0/24 dev {connected} proto kernel scope link src 10.44.3.1
172.20.0.0/24 dev lan1 proto kernel scope link src 172.20.0.2
```
{seen}
```
$ ip route get 172.20.0.50 from 10.44.3.20 iif {asked}
RTNETLINK answers: Invalid cross-device link
```
"""
CAPTURED = """
```
$ tcpdump -ni lan0 icmp
12:00:01.000100 IP 10.44.3.20 > 172.20.0.50: ICMP echo request, id 7, seq 1, length 64
12:00:02.000200 IP 10.44.3.20 > 172.20.0.50: ICMP echo request, id 7, seq 2, length 64
```
"""
LOGGED = """
```
kernel: IPv4: martian source 172.20.0.50 from 10.44.3.20, on dev lan0
```
"""


@pytest.mark.parametrize(
    ("connected", "asked", "seen", "expected"),
    [
        ("lan0", "lan1", "", 0.4),
        ("lan0", "lan1", CAPTURED, 0.4),
        ("vpn0", "lan0", "", 0.4),
        ("vpn0", "lan0", CAPTURED, 1.0),
        ("vpn0", "lan0", LOGGED, 1.0),
        ("lan0", "lan0", "", 1.0),
    ],
)
def test_a_filtered_packet_has_to_come_in_where_it_was_asked_about(
    connected: str, asked: str, seen: str, expected: float
) -> None:
    """Where the source is connected to another device, no such packet may ever come in there."""
    ticket = LEGS.format(connected=connected, asked=asked, seen=seen)
    (found,) = check(case_of_document(ticket))

    assert (expected, expected < 1) == (found.certainty, bool(found.asks))
    assert all(f"iif {connected}" in one.command for one in found.asks)


@pytest.mark.parametrize("kind", ["unreachable", "blackhole", "prohibit"])
def test_a_dead_end_is_told_with_its_type(kind: str) -> None:
    """The kernel has a route, and that route ends there."""
    answer = f"```\n$ ip route get 10.96.0.1\n{kind} 10.96.0.1 dev lo table main uid 0\n```\n"
    (found,) = check(case_of_document(answer))

    assert (1.0, (kind,)) == (found.certainty, found.marks)
    assert f"The kernel has a route of type {kind} to 10.96.0.1." == found.claim


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "RTNETLINK answers: Network is unreachable",
            (
                "The kernel in netns blue has no route to 10.96.0.1: it answers 'Network is "
                "unreachable'."
            ),
        ),
        (
            "prohibit 10.96.0.1 dev lo table main uid 0",
            "The kernel in netns blue has a route of type prohibit to 10.96.0.1.",
        ),
    ],
)
def test_the_namespace_that_was_asked_is_named(answer: str, expected: str) -> None:
    """Each namespace has routes of its own."""
    asked = f"```\n$ ip netns exec blue ip route get 10.96.0.1\n{answer}\n```\n"
    (found,) = check(case_of_document(asked))

    assert expected == found.claim
