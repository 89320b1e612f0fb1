"""A host is not called silent where nothing shows that its answers are missing."""

from __future__ import annotations

from dataclasses import replace

from podpath.report.sentences.narrative import spell_claim
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    case_of,
    clock,
    exchange,
    found,
    handshake,
    tcp,
)

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"
TIMES = (1.0, 2.0, 3.0, 4.0, 5.0)


def echo(after: float, ends: str, kind: str, number: int) -> str:
    """Write a line of a ping."""
    return f"{clock(after)} IP {ends}: ICMP echo {kind}, id 7, seq {number}, length 64"


def test_sender_that_goes_on_with_new_data_gets_its_acknowledgments() -> None:
    """Nothing is sent again, so nothing is missed: the acknowledgments were not captured."""
    new = tuple(
        tcp(after, FORTH, "P.", 81 + 100 * number, 401, 100) for number, after in enumerate(TIMES)
    )
    again = tuple(tcp(after, FORTH, "P.", 81, 401, 100) for after in TIMES)

    assert found(case_of(*handshake(), *exchange(0.1), *new), "one-way") == []
    assert len(found(case_of(*handshake(), *exchange(0.1), *again), "one-way")) == 1


def test_connection_whose_acknowledgments_are_never_captured_is_not_judged() -> None:
    """Another connection of the two hosts is answered; this one's answers take another path."""
    other = f"{CLIENT[:-5]}41001"
    again = tuple(tcp(after, f"{other} > {SERVER}", "P.", 1, 1, 100) for after in TIMES)

    assert found(case_of(*handshake(), *exchange(0.1), *again), "one-way") == []


def test_host_that_drops_pings_is_not_silent() -> None:
    """It answers TCP, which rests meanwhile, and no ping ever."""
    ends = ("10.7.0.5 > 198.18.4.9", "198.18.4.9 > 10.7.0.5")
    pings = tuple(echo(after, ends[0], "request", at) for at, after in enumerate(TIMES, 1))
    answered = (echo(0.5, ends[0], "request", 0), echo(0.51, ends[1], "reply", 0))

    assert found(case_of(*handshake(), *exchange(0.1), *pings), "one-way") == []
    assert len(found(case_of(*handshake(), *exchange(0.1), *answered, *pings), "one-way")) == 1


def test_of_a_long_capture_single_connections_are_looked_at() -> None:
    """Packets of other connections may not be shown, nor what follows the last of this one."""
    again = tuple(tcp(after, FORTH, "P.", 81, 401, 100) for after in TIMES)
    cured = (tcp(9.0, BACK, ".", 0, 181),)
    ends, names = case_of(*handshake(), *exchange(0.1), *again), frozenset({"capture-0.txt"})
    resumes = case_of(*handshake(), *exchange(0.1), *again, *cured)

    assert found(replace(ends, thinned=names), "one-way") == []
    (finding,) = found(replace(resumes, thinned=names), "one-way")
    assert " on tcp 10.7.0.5:41000 > 198.18.4.9:443 from " in spell_claim(finding.claim)
