"""An address that moves is reachable at its old MAC for as long as that is answered."""

from __future__ import annotations

from podpath.checks.finding import Severity
from tests.checks.made_captures import arp, case_of, found, framed

NEAR, OLD, NEW = "02:00:00:00:00:05", "02:00:00:00:00:f1", "02:00:00:00:00:f2"
ASK, ANSWER = "10.7.0.5.5000 > 10.7.0.9.53", "10.7.0.9.53 > 10.7.0.5.5000"


def severity(*lines: str) -> Severity:
    """Return how grave a move from the old MAC to the new one is."""
    first = (
        arp(0, f"{OLD} > {NEAR}", f"Reply 10.7.0.9 is-at {OLD}"),
        framed(1, f"{NEAR} > {OLD}", ASK),
        framed(1.1, f"{OLD} > {NEAR}", ANSWER),
        arp(5, f"{NEW} > {NEAR}", f"Reply 10.7.0.9 is-at {NEW}"),
    )
    case = case_of(*first, *lines, command="tcpdump -enn -i eth0")
    (finding,) = found(case, "gratuitous-arp")
    return finding.severity


def test_frames_to_the_old_mac_are_lost_where_nobody_answers_them() -> None:
    """A machine that serves under a virtual MAC goes on taking frames to its own."""
    astray = tuple(framed(after, f"{NEAR} > {OLD}", ASK) for after in (6.0, 7.0))

    assert severity(*astray) == Severity.FAULT
    assert severity(*astray, framed(7.1, f"{NEW} > {NEAR}", ANSWER)) == Severity.NOTE
