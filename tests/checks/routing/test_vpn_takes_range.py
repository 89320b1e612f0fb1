"""Routes of VPNs that take more than is theirs."""

from __future__ import annotations

import pytest

from podpath.checks.routing.vpn_takes_range import check
from tests.checks.pasted import ticket_of

SPLIT = """\
{said}

```
# ip route
{first}
default via 192.168.1.1 dev eth0
10.8.0.0/24 dev {link} proto kernel scope link src 10.8.0.6
128.0.0.0/1 via 10.8.0.1 dev {link}
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.50
```
"""
HALF = "0.0.0.0/1 via 10.8.0.1 dev tun0"
FAILS = "Pods get no answer from the internet."


def test_both_halves_are_quoted() -> None:
    """Possible, since the failure may lie elsewhere."""
    (found,) = check(ticket_of(SPLIT.format(said=FAILS, first=HALF, link="tun0")))

    assert [HALF, "128.0.0.0/1 via 10.8.0.1 dev tun0"] == [span.text for span in found.evidence]
    assert 0.5 == found.certainty


@pytest.mark.parametrize(
    ("said", "first", "link"),
    [
        (FAILS, "10.9.0.0/24 via 10.8.0.1 dev tun0", "tun0"),
        (FAILS, "0.0.0.0/1 via 10.8.0.1 dev eth1", "eth1"),
        ("Pods reach the internet.", HALF, "tun0"),
        ("The web page answers with status 502.", HALF, "tun0"),
        ("The printer 192.168.1.77 does not answer.", HALF, "tun0"),
    ],
    ids=["one-half", "no-vpn", "works", "answered", "longer"],
)
def test_a_split_default_that_is_wanted_is_let_be(said: str, first: str, link: str) -> None:
    """One half alone, two cards, and a host on which nothing is lost."""
    assert [] == list(check(ticket_of(SPLIT.format(said=said, first=first, link=link))))


SERVICE = """\
```
$ kubectl get svc -A
NAMESPACE   NAME         TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
default     kubernetes   ClusterIP   10.96.0.1    <none>        443/TCP   3d
$ ip route get {address}
{address} via 10.99.0.1 dev {link} src 10.99.0.7 uid 1000
```
"""


@pytest.mark.parametrize(
    ("address", "link", "expected"),
    [
        ("10.96.0.1", "tun0", [0.7]),
        ("10.96.0.1", "utun4", [0.7]),
        ("10.96.0.1", "eth0", []),
        ("10.96.0.1", "tunl0", []),
        ("10.96.7.1", "tun0", []),
    ],
)
def test_the_kernels_answer_for_a_services_address(
    address: str, link: str, expected: list[float]
) -> None:
    """By a card the packets leave as they always do; an overlay's device is no VPN's."""
    case = ticket_of(SERVICE.format(address=address, link=link))

    assert [one.certainty for one in check(case)] == expected
