"""An ARP frame teaches a foreign MAC only where frames went elsewhere before it."""

from __future__ import annotations

from podpath.checks.links import foreign_arp
from tests.checks.made_captures import arp, case_of, framed

USUAL, OTHER, PEER = "02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:0c"
GATEWAY = "10.7.0.1.53 > 10.7.0.5.5000"
BACK = "10.7.0.5.5000 > 10.7.0.1.53"


def test_mac_that_was_in_use_before_is_no_foreign_one() -> None:
    """A gateway that sends with one MAC and is known by another one works that way all along."""
    taught = arp(2.0, f"{OTHER} > ff:ff:ff:ff:ff:ff", "Request who-has 10.7.0.5 tell 10.7.0.1")
    lines = (
        framed(1.0, f"{USUAL} > {PEER}", GATEWAY),
        taught,
        framed(3.0, f"{PEER} > {OTHER}", BACK),
        framed(3.5, f"{PEER} > {OTHER}", BACK),
        framed(4.0, f"{USUAL} > {PEER}", GATEWAY),
    )
    before = framed(0.5, f"{PEER} > {OTHER}", BACK)
    command = "tcpdump -enn -i eth0"

    assert len(list(foreign_arp.check(case_of(*lines, command=command)))) == 1
    assert list(foreign_arp.check(case_of(before, *lines, command=command))) == []
