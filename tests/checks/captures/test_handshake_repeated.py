"""Handshakes that are repeated, told by what becomes of them, and equal ones together."""

from __future__ import annotations

from podpath.capture.connections import gather_traffic
from podpath.checks.captures import handshake_repeated
from podpath.checks.finding import Severity
from podpath.report.claims import spell_claim
from tests.checks.made_captures import CLIENT, SERVER, case_of, exchange, found, handshake, tcp

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"


def asked(client: str, *times: float) -> tuple[str, ...]:
    """Write a SYN that is sent so often."""
    return tuple(tcp(after, f"{client} > {SERVER}", "S", 1000) for after in times)


def test_answer_to_the_last_syn_reaches_its_client_for_all_that_is_known() -> None:
    """Only a SYN that comes after the SYN-ACK shows that the answer is lost."""
    late = (*asked(CLIENT, 0.0, 1.0), tcp(1.01, BACK, "S.", 7, 1001))
    (answered,) = found(case_of(*late), "handshake-repeated")
    (lost,) = found(case_of(*late, *asked(CLIENT, 3.0)), "handshake-repeated")

    assert (Severity.NOTE, Severity.FAULT) == (answered.severity, lost.severity)
    assert "although" not in spell_claim(answered.claim)
    assert "although" in spell_claim(lost.claim)


def test_equal_ones_are_one_finding_with_a_count() -> None:
    """Many clients of one silent server; what became of another one is told apart."""
    lines: list[str] = []
    for number in range(9):
        client = f"10.7.0.{10 + number}.4{number}000"
        begin = float(number)
        lines += [
            tcp(begin + after, f"{client} > {SERVER}", "S", 5000 + number) for after in (0, 1, 3)
        ]
    works = (*asked(CLIENT, 20.0), *handshake(21.0), *exchange(21.1))
    silent, healed = found(case_of(*sorted(lines), *works), "handshake-repeated")

    assert "9 connections to 198.18.4.9:443 send their SYN again, and nothing comes back." == (
        spell_claim(silent.claim)
    )
    assert (3, Severity.FAULT) == (len(silent.breaks), silent.severity)
    assert healed.severity == Severity.NOTE


def test_servers_that_one_client_tries_in_vain_are_one_finding_of_captures_alone() -> None:
    """A scan, or a host that is cut off: the count, and the first three. Where a node's evidence
    may say why one of them is silent, each stands by itself; so do three.
    """
    lines = [
        tcp(number + after, f"10.7.0.10.4{number}000 > 198.51.100.{number}.23", "S", 5000 + number)
        for number in range(9)
        for after in (0, 1, 3)
    ]
    case = case_of(*sorted(lines))
    traffic = gather_traffic(case.sightings)
    (one,) = handshake_repeated.look_alone(case, traffic)

    assert (
        "9 connections of 10.7.0.10 to 9 servers send their SYN again, and nothing comes back; "
        "the first is to 198.51.100.0:23."
    ) == spell_claim(one.claim)
    assert (3, Severity.FAULT) == (len(one.breaks), one.severity)
    assert 9 == len(list(handshake_repeated.look(case, traffic)))
    few = case_of(*sorted(lines[:9]))
    assert 3 == len(list(handshake_repeated.look_alone(few, gather_traffic(few.sightings))))
