"""Name lookups and pings without an answer are found, and only where one should have been seen."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.looks import look_at_captures
from podpath.diagnosis.capture_answer import answer_captures
from podpath.report.claims import spell_claim
from tests.checks.made_captures import case_of, clock, exchange, handshake

NEAR, FAR = "10.7.0.5", "10.96.0.10"


def query(after: float, port: int, where: str = "", number: int = 0) -> str:
    """Write a line of a name lookup; its number is the port where none is given."""
    ends = f"{NEAR}.{port} > {FAR}.53"
    return f"{clock(after)} {where}IP {ends}: {number or port}+ A? example.com. (29)"


def answer(after: float, port: int, server: str = FAR, number: int = 0) -> str:
    """Write a line of its answer."""
    ends = f"{server}.53 > {NEAR}.{port}"
    return f"{clock(after)} IP {ends}: {number or port} 1/0/0 A 192.0.2.7 (45)"


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
    assert [] == unanswered(*pings[:3], ping(0.1, "reply", 0), *handshake(9.0))


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


def lookups(*silent: int, count: int = 20) -> list[str]:
    """Write lookups of a client that keeps its port, each with its answer but for some."""
    lines = []
    for number in range(1, count + 1):
        lines.append(query(number, 40_000, number=number))
        if number not in silent:
            lines.append(answer(number + 0.1, 40_000, number=number))
    return lines


def test_queries_of_one_port_are_held_against_answers_one_by_one() -> None:
    """That others are answered says nothing of those that are not; certain it is not, for the
    capture may have missed them.
    """
    (finding,) = unanswered(*lookups(3, 7, 8), *handshake(30.0))

    assert "DNS queries to 10.96.0.10:53 get no answer: 3 of 20." == spell_claim(finding.claim)
    assert finding.certainty < 1
    assert finding.asks
    assert [clock(number) for number in (3, 7, 8)] == [
        span.text.split()[0] for span in finding.evidence
    ]


def test_few_queries_without_an_answer_forbid_the_all_clear() -> None:
    """A network may lose one: that is no fault, and no health either."""
    case = case_of(*lookups(5), *handshake(30.0))

    assert unanswered(*lookups(5), *handshake(30.0)) == []
    assert "undecided" == answer_captures(case).verdict


INNOCENT = {
    "all answered": lookups(),
    "the last ones are under way": lookups(19, 20),
    "answered when asked again": [*lookups(5, 6, 7), *(
        answer(at + 5.5, 40_000, number=at) for at in (5, 6, 7)
    )],
    "an answer whose number is not shown": [
        *lookups(5, 6, 7), f"{clock(9)} IP {FAR}.53 > {NEAR}.40000: UDP, length 45",
    ],
    "an error answers them": [
        *(ping(at, "request", at) for at in range(9)),
        *(ping(at + 0.1, "reply", at) for at in range(3, 9)),
        f"{clock(1.1)} IP 192.0.2.1 > {NEAR}: ICMP time exceeded in-transit, length 36",
    ],
}  # fmt: skip
"""What looks as if some had no answer."""


@pytest.mark.parametrize("lines", INNOCENT.values(), ids=INNOCENT)
def test_requests_that_have_their_answer_are_not_told(lines: list[str]) -> None:
    """By whatever answers them, and however late."""
    assert unanswered(*lines, *handshake(20.1)) == []


def test_pings_that_stop_being_answered_are_found() -> None:
    """The first ones have their reply."""
    pings = [ping(at, "request", at) for at in range(10)]
    (finding,) = unanswered(*pings, ping(0.1, "reply", 0), ping(1.1, "reply", 1), *handshake(20.0))

    assert "Pings to 10.96.0.10 get no answer: 8 of 10." == spell_claim(finding.claim)


def test_queries_of_a_lossy_capture_count_if_they_are_repeated() -> None:
    """One of all devices drops packets, answers among them."""
    once = [line.replace(" IP ", " eth0  Out IP ", 1) for line in lookups(3, 7, 8)]
    again = [query(at + 5, 40_000, "eth0  Out ", number=at) for at in (3, 7, 8)]
    later = [line.replace(" IP ", " eth0  In  IP ", 1) for line in handshake(90.0)]
    command = "tcpdump -nni any"

    assert unanswered(*once, *later, command=command) == []
    assert 1 == len(unanswered(*once, *again, *later, command=command))
