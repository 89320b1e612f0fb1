"""Name lookups and pings without an answer are found, and only where one should have been seen."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.looks import look_at_captures
from podpath.report.sentences.narrative import spell_claim
from tests.checks.made_captures import case_of, clock, exchange, handshake

NEAR, FAR = "10.7.0.5", "10.96.0.10"


def query(after: float, port: int, where: str = "") -> str:
    """Write a line of a name lookup."""
    return f"{clock(after)} {where}IP {NEAR}.{port} > {FAR}.53: {port}+ A? example.com. (29)"


def answer(after: float, port: int, server: str = FAR) -> str:
    """Write a line of its answer."""
    return f"{clock(after)} IP {server}.53 > {NEAR}.{port}: {port} 1/0/0 A 192.0.2.7 (45)"


def ping(after: float, kind: str, number: int) -> str:
    """Write a line of a ping."""
    ends = f"{NEAR} > {FAR}" if kind == "request" else f"{FAR} > {NEAR}"
    return f"{clock(after)} IP {ends}: ICMP echo {kind}, id 7, seq {number}, length 64"


def unanswered(*lines: str, command: str = "tcpdump -nn -i eth0") -> list[Finding]:
    """Return what is found."""
    case = case_of(*lines, command=command)
    return [one for one in look_at_captures(case, alone=True) if one.check == "unanswered"]


def test_lookups_without_answer_are_counted() -> None:
    """Of those to one server, with the answered ones beside them."""
    some = [query(at, 40_000 + at) for at in range(5)]
    (finding,) = unanswered(*some, answer(1.1, 40_001), *handshake(9.0))

    assert "DNS queries to 10.96.0.10:53 get no answer: 4 of 5." == spell_claim(finding.claim)
    assert (1.0, 3) == (finding.certainty, len(finding.breaks))


def test_pings_without_answer_are_found() -> None:
    """Where other packets come to who asks, nothing hides the answers."""
    pings = [ping(at, "request", at) for at in range(5)]
    (finding,) = unanswered(*pings, *handshake(9.0))

    assert "Pings to 10.96.0.10 get no answer." == spell_claim(finding.claim)
    assert [] == unanswered(*pings, ping(0.1, "reply", 0), *handshake(9.0))


def test_capture_that_shows_nothing_coming_in_is_in_doubt() -> None:
    """Its filter may leave the answers out."""
    (finding,) = unanswered(query(0, 40_000), query(5, 40_000))

    assert finding.certainty < 1
    assert finding.asks


@pytest.mark.parametrize(
    "lines",
    [
        (*handshake(), *exchange(0.1), query(0.5, 40_000)),
        (query(0, 40_000), answer(0.1, 40_000, "10.244.2.10"), *handshake(9.0)),
    ],
    ids=["the capture ends at once", "answered under another address"],
)
def test_answers_that_cannot_be_missed_are_not(lines: tuple[str, ...]) -> None:
    """An answer may come after the capture's end, or be translated behind this point."""
    assert unanswered(*lines) == []


def test_capture_of_all_devices_needs_a_request_that_is_repeated() -> None:
    """It drops packets, answers among them."""
    once = query(0, 40_000, "eth0  Out ")
    later = tuple(line.replace(" IP ", " eth0  In  IP ", 1) for line in handshake(9.0))
    command = "tcpdump -nni any"

    assert unanswered(once, *later, command=command) == []
    assert len(unanswered(once, query(5, 40_000, "eth0  Out "), *later, command=command)) == 1
