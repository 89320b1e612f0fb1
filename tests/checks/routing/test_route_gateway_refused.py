"""A route whose gateway cannot be used."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_gateway_refused import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route add default via 10.0.5.1
Error: Nexthop has invalid gateway.
```
"""
ALMOST = """\
```
$ ip route add 10.0.0.7/8 via 10.0.5.1
Error: Invalid prefix for given prefix length.
```
"""
HEALTHY = """\
```
$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "invalid gateway" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "invalid gateway" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Another error has another check."""
    assert [] == list(check(case_of_document(ticket)))


ADDRESS = """\
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP
    inet 192.168.1.20/24 brd 192.168.1.255 scope global eth0
"""
UNREACHABLE = "RTNETLINK answers: Network is unreachable\n"


@pytest.mark.parametrize(
    ("console", "certainty"),
    [
        (f"$ ip route add 10.1.0.0/16 via 192.168.77.1\n{UNREACHABLE}{ADDRESS}", 1.0),
        (f"$ ip route add 10.1.0.0/16 via 192.168.77.1\n{UNREACHABLE}", 0.8),
        (f"$ ip route add 10.1.0.0/16 via 192.168.1.9\n{UNREACHABLE}{ADDRESS}", 0.8),
        (f"+ ip route add 10.1.0.0/16 via 192.168.77.1\n{UNREACHABLE}", 0.8),
        (UNREACHABLE, 0.5),
    ],
    ids=["apart", "unknown", "inside", "echoed", "alone"],
)
def test_netlink_answers_that_a_network_is_unreachable(console: str, certainty: float) -> None:
    """It is certain where the host's networks are shown, and none contains the gateway."""
    found = list(check(case_of_document(f"```\n{console}```\n")))

    assert [certainty] == [one.certainty for one in found]
    assert "RTNETLINK" in found[0].evidence[0].text


@pytest.mark.parametrize(
    "console",
    [
        f"$ ip route get 8.8.8.8\n{UNREACHABLE}",
        "$ ip route add 10.1.0.0/16 via 192.168.1.9\nRTNETLINK answers: File exists\n",
    ],
    ids=["asked", "exists"],
)
def test_another_answer_of_netlink(console: str) -> None:
    """A question sets nothing, and a route that exists is there."""
    assert not list(check(case_of_document(f"```\n{console}```\n")))
