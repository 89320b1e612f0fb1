"""Programs that are faster than duplicate address detection."""

from __future__ import annotations

import os
import sys
import time

import pytest

import podpath
from podpath.checks.links.address_tentative import OPEN, check
from podpath.diagnosis.doubting import DOUBTED
from podpath.library.given import Pasted
from tests.checks.pasted import found, ticket_of
from tests.kernel.router import run

SETTLES = 10.0
"""Seconds within which the kernel has asked whether anybody has the address."""
FAILED = (
    "nginx[812]: nginx: [emerg] bind() to [2001:db8:10::5]:443 failed "
    "(99: Cannot assign requested address)"
)
LISTED = """
# ip -6 addr show dev eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default qlen 1000
    inet6 {address}/64 scope global {flags}
       valid_lft forever preferred_lft forever
"""


def listed(flags: str, address: str = "2001:db8:10::5") -> str:
    """Return a listing with one address."""
    return LISTED.format(flags=flags, address=address)


@pytest.mark.parametrize(
    ("flags", "sure"),
    [("tentative", OPEN), ("dadfailed tentative", 1.0), ("optimistic tentative", OPEN)],
)
def test_the_listing_and_the_error_are_of_one_address(flags: str, sure: float) -> None:
    """The listing's row is quoted first. What has not passed yet may have been another moment's."""
    row = f"inet6 2001:db8:10::5/64 scope global {flags} valid_lft forever preferred_lft forever"

    assert [(sure, row)] == found(check, FAILED + listed(flags))


def test_a_server_that_does_not_start_settles_the_moment() -> None:
    """The error and what people say are of one start."""
    text = f"nginx does not start.\n\n```\n{FAILED}{listed('tentative')}```\n"
    first, second = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert ("address-tentative", 1.0) == (first.check, first.certainty)
    assert ("bind-refused", DOUBTED) == (second.check, second.certainty)


def test_a_failed_detection_has_another_cure() -> None:
    """Nobody waits for an address that somebody else has."""
    (waits,) = check(ticket_of(f"It fails.\n\n```\n{FAILED}{listed('tentative')}```\n"))
    (failed,) = check(ticket_of(f"It fails.\n\n```\n{FAILED}{listed('dadfailed')}```\n"))

    assert () == waits.repairs[0].commands
    assert failed.repairs[0].commands[0] == "ip -6 addr del 2001:db8:10::5/64 dev eth0"


@pytest.mark.parametrize(
    "shown", [listed(""), listed("deprecated"), listed("tentative", "2001:db8:10::6")]
)
def test_an_address_in_use_is_not_waited_for(shown: str) -> None:
    """Nor is another one."""
    assert [] == found(check, FAILED + shown)


def test_a_taken_port_is_another_fault() -> None:
    """The kernel knows the address."""
    taken = FAILED.replace("99: Cannot assign requested address", "98: Address already in use")

    assert [] == found(check, taken + listed("tentative"))


def test_a_container_may_have_other_addresses() -> None:
    """Its log says nothing of the host's."""
    text = f"$ docker logs web\n{FAILED}\n{listed('dadfailed')}"

    assert [OPEN] == [sure for sure, _ in found(check, text)]


BIND = """\
import socket
try:
    socket.socket(socket.AF_INET6).bind(("2001:db8:10::5", 443))
    print("bound")
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.kernel("ip")
def test_the_kernel_lets_nobody_bind_before() -> None:
    """Once the address has passed, the same call is taken."""
    host = f"dad-{os.getpid()}"
    inside = ("ip", "netns", "exec", host)
    try:
        run("ip", "netns", "add", host)
        for line in (
            "link add v0 type veth peer name v1",
            "link set v1 up",
            "link set v0 up",
            "addr add 2001:db8:10::5/64 dev v0",
        ):
            run("ip", "-n", host, *line.split())
        assert "Cannot assign requested address" == run(*inside, sys.executable, "-c", BIND).strip()
        ends = time.monotonic() + SETTLES
        while run("ip", "-n", host, "-6", "addr", "show", "tentative"):
            assert time.monotonic() < ends
            time.sleep(0.1)
        assert "bound" == run(*inside, sys.executable, "-c", BIND).strip()
    finally:
        run("ip", "netns", "del", host)
