"""A router that forgets its own."""

from __future__ import annotations

import os
import sys
import time

import pytest

import podpath
from podpath.checks.routing.router_advertisements_ignored import BY_PROGRAM, check
from podpath.library.given import Pasted
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of
from tests.kernel.router import run

FAULT = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 1
```
"""
ALMOST = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 2
```
"""
HEALTHY = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 0
net.ipv6.conf.eth0.accept_ra = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "accept_ra" in found.evidence[0].text
    assert 0.5 == found.certainty
    assert "eth0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """It accepts them all the same, or forwards nothing."""
    assert [] == list(check(case_of_document(ticket)))


UNREACHABLE = """\
```
$ ip -6 route
{routes}
$ sysctl net.ipv6.conf.all.forwarding net.ipv6.conf.eth0.accept_ra
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 1
$ ping6 2001:db8:9::1
connect: Network is unreachable
```
"""
OWN = "fe80::/64 dev eth0 proto kernel metric 256 pref medium"
DEFAULT = "default via fe80::1 dev eth0 proto ra metric 1024 expires 1791sec hoplimit 64"


def test_a_host_without_its_default_route_says_so() -> None:
    """The routes have none, and the host itself refuses: nothing is left open."""
    found = next(check(case_of_document(UNREACHABLE.format(routes=OWN))))

    assert found.certainty == 1
    assert "connect: Network is unreachable" in [span.text for span in found.evidence]


def test_a_default_route_that_is_still_there_leaves_it_open() -> None:
    """It may expire, or somebody else may say so."""
    found = next(check(case_of_document(UNREACHABLE.format(routes=f"{OWN}\n{DEFAULT}"))))

    assert found.certainty == 0.5


def test_a_refusal_of_ipv4_says_nothing_of_advertisements() -> None:
    """The routes of the other family are not listed."""
    ticket = UNREACHABLE.format(routes=OWN).replace("ping6 2001:db8:9::1", "ping 198.51.100.9")
    found = next(check(case_of_document(ticket)))

    assert found.certainty == 0.5


SHOWN = """\
{prose}

```
$ ip -6 route
fe80::/64 dev eth0 proto kernel metric 256 pref medium
2001:db8:5::/64 dev eth0 proto kernel metric 256 pref medium
$ sysctl -a | grep ipv6
{sysctls}
```
"""
PROSE = "IPv6 from the node to the internet fails: Network is unreachable."
FORWARDS = "net.ipv6.conf.eth0.forwarding = {}\nnet.ipv6.conf.eth0.accept_ra = 1"
OFF = "net.ipv6.conf.eth0.accept_ra = 0"


def sure(sysctls: str, prose: str = PROSE) -> list[float]:
    """Return how sure each finding is."""
    return [one.certainty for one in check(ticket_of(SHOWN.format(prose=prose, sysctls=sysctls)))]


def test_the_devices_own_forwarding_counts() -> None:
    """The kernel asks the device's switch, which that of all devices only writes."""
    assert [1.0] == sure(FORWARDS.format(1))
    assert [] == sure(FORWARDS.format(0) + "\nnet.ipv6.conf.all.forwarding = 1")
    assert [0.5] == sure(FORWARDS.format(1), "IPv4 names do not resolve.")


def test_what_accepts_none_at_all_may_leave_them_to_a_program() -> None:
    """Network managers set 0 and receive advertisements themselves: that is asked."""
    (found,) = check(ticket_of(SHOWN.format(prose=PROSE, sysctls=OFF)))

    assert found.certainty == BY_PROGRAM
    assert found.asks
    assert [] == sure(OFF, "The web server is slow.")


def test_a_sentence_loses_the_default_route() -> None:
    """It says what such a device does; where it accepts advertisements, it is none of this."""
    said = "A host lost its IPv6 default route an hour after a container engine was installed."
    text = f"{said}\n\n```\n# sysctl -a | grep ipv6\n{{}}\n```\n"

    def certain(sysctls: str) -> list[float]:
        return [one.certainty for one in check(ticket_of(text.format(sysctls)))]

    assert certain(FORWARDS.format(1)) == [1.0]
    assert certain(FORWARDS.format(1).replace("accept_ra = 1", "accept_ra = 2")) == []
    assert certain(FORWARDS.format(0)) == []


def test_devices_of_pods_hear_no_router() -> None:
    """What they accept is no matter."""
    assert [] == sure(OFF.replace("eth0", "veth12"))
    assert [] == sure(OFF.replace("eth0", "docker0"))


def test_it_stands_for_the_missing_route_that_it_explains() -> None:
    """The route is not told again."""
    text = UNREACHABLE.format(routes=OWN)
    checks = [one.check for one in podpath.diagnose(Pasted(text, "ticket.md")).findings]

    assert checks == ["router-advertisements-ignored"]


ADVERTISE = """\
import socket, struct, time
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
at = socket.if_nametoindex("v1")
s.bind(("fe80::1", 0, 0, at))
advertisement = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
for _ in range(50):  # until the link has its carrier, and with it the route for multicast
    try:
        s.sendto(advertisement, ("ff02::1", 0, 0, at))
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit("the link does not come up")
"""
SETTLES = 2.0
"""Seconds within which the kernel has taken an advertisement."""


@pytest.mark.kernel("ip")
@pytest.mark.parametrize(
    ("settings", "taken"),
    [
        (("v0.accept_ra=1",), True),
        (("v0.accept_ra=1", "v0.forwarding=1"), False),
        (("all.forwarding=1", "v0.accept_ra=1", "v0.forwarding=0"), True),
        (("all.forwarding=1", "v0.accept_ra=2"), True),
        (("v0.accept_ra=0",), False),
    ],
)
def test_the_kernel_takes_advertisements_as_the_page_says(
    settings: tuple[str, ...],
    taken: bool,  # noqa: FBT001 - a column
) -> None:
    """By the device's own forwarding and accept_ra."""
    host, router = f"ra-{os.getpid()}", f"rtr-{os.getpid()}"
    try:
        for name in (host, router):
            run("ip", "netns", "add", name)
        run(*f"ip -n {host} link add v0 type veth peer name v1 netns {router}".split())
        run(*f"ip -n {router} addr add fe80::1/64 dev v1 nodad".split())
        for setting in settings:
            run("ip", "netns", "exec", host, "sysctl", "-w", f"net.ipv6.conf.{setting}")
        run(*f"ip -n {router} link set v1 up".split())
        run(*f"ip -n {host} link set v0 up".split())
        run(*f"ip -n {host} addr add fe80::2/64 dev v0 nodad".split())
        ends = time.monotonic() + SETTLES
        got = ""
        while not got and time.monotonic() < ends:
            run("ip", "netns", "exec", router, sys.executable, "-c", ADVERTISE)
            time.sleep(0.2)
            got = run("ip", "-n", host, "-6", "route", "show", "default")
        assert ("proto ra" in got) is taken
    finally:
        for name in (host, router):
            run("ip", "netns", "del", name)


@pytest.mark.parametrize(("metric", "found"), [(100, 0), (1024, 1)])
def test_a_route_that_a_program_made_of_an_advertisement_was_received(
    metric: int, found: int
) -> None:
    """The kernel's own routes have its metric, and expire once it ignores advertisements."""
    route = f"default via fe80::1 dev eth0 proto ra metric {metric}"
    case = case_of_document(f"{FAULT}\n```\n$ ip -6 route\n{route}\n```\n")

    assert found == len(list(check(case)))
