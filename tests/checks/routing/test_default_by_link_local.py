"""Default routes with a link-local source."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.routing.default_by_link_local import check
from tests.checks.pasted import ticket_of

LOST = "The box cannot ping anything on the Internet."
LOCAL = "default dev br0 proto kernel scope link src 169.254.38.92 metric {metric}"
PROPER = "default via 192.168.0.1 dev wlan0 src 192.168.0.102 metric 303"


def findings(first: str, second: str = PROPER, said: str = LOST) -> list[Finding]:
    """Return what is found in a ticket with two default routes."""
    routes = f"{first}\n{second}\n192.168.0.0/24 dev wlan0 proto kernel scope link"
    return list(check(ticket_of(f"{said}\n\n```\nroot@box:~# ip r\n{routes}\nroot@box:~#\n```\n")))


@pytest.mark.parametrize("said", [LOST, "Names do not resolve and websites time out."])
def test_a_lower_metric_takes_the_packets(said: str) -> None:
    """Both routes are quoted."""
    (finding,) = findings(LOCAL.format(metric=204), said=said)

    assert (1.0, 2) == (finding.certainty, len(finding.evidence))


def test_another_complaint_leaves_it_open() -> None:
    """What fails may not leave the host."""
    (finding,) = findings(LOCAL.format(metric=204), said="Pods cannot reach pods.")

    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LOCAL.format(metric=1000), PROPER),
        (LOCAL.format(metric=204), "10.0.0.0/8 via 192.168.0.9 dev wlan0"),
        ("default dev ppp0 proto kernel scope link src 198.51.100.7 metric 50", PROPER),
    ],
)
def test_a_healthy_second_default(first: str, second: str) -> None:
    """A higher metric, no other default, and a link whose address is a proper one."""
    assert not findings(first, second)


VETH = "default dev vethc12acc2 scope link"


@pytest.mark.parametrize(("said", "certainty"), [(LOST, 1.0), ("Pods cannot reach pods.", 0.7)])
def test_a_default_route_by_a_containers_device(said: str, certainty: float) -> None:
    """A client of the host took the veth for a card."""
    found = findings(VETH, "default via 192.168.0.1 dev wlan0", said)

    assert [certainty] == [one.certainty for one in found]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("default via 192.168.0.1 dev wlan0", VETH),
        (VETH + " metric 2000", "default via 192.168.0.1 dev wlan0 metric 100"),
        ("default dev wg0 scope link", "default via 192.168.0.1 dev wlan0"),
        ("default via 10.0.0.9 dev vethc12acc2", "default via 192.168.0.1 dev wlan0"),
    ],
    ids=["second", "metric", "vpn", "gateway"],
)
def test_a_default_route_that_is_not_used_or_meant(first: str, second: str) -> None:
    """Another one comes first, or the device is no container's."""
    assert not findings(first, second)
