"""Refused connections are counted by the end that refuses them."""

from __future__ import annotations

from podpath.checks.finding import Finding, Severity
from podpath.checks.looks import look_at_captures
from podpath.node.case import Case
from podpath.report.claims import spell_claim
from tests.checks.made_captures import SERVER, case_of, exchange, handshake, tcp


def refused(case: Case) -> list[Finding]:
    """Return what is found of refused connections."""
    return [one for one in look_at_captures(case, alone=True) if one.check == "connections-refused"]


def tries(count: int, server: str = SERVER, first: int = 42_000) -> tuple[str, ...]:
    """Write connections that are reset."""
    lines: list[str] = []
    for number in range(count):
        client = f"10.7.0.{5 + number % 2}.{first + number}"
        lines += [
            tcp(number * 2.0, f"{client} > {server}", "S", first + number),
            tcp(number * 2.0 + 0.001, f"{server} > {client}", "R.", 0, first + 1 + number),
        ]
    return tuple(lines)


def test_equal_ones_are_one_finding_with_a_count() -> None:
    """The first three are quoted; another server's are another finding."""
    other = "198.18.4.10.81"
    works = (*handshake(1.0, "10.7.0.5.43000"), *exchange(1.1, "10.7.0.5.43000"))
    found = refused(case_of(*sorted((*tries(5), *tries(1, other, 44_000), *works))))

    assert [
        "5 of 6 connections to 198.18.4.9:443 are refused.",
        "The connection to 198.18.4.10:81 is refused.",
    ] == [spell_claim(one.claim) for one in found]
    assert {Severity.FAULT} == {one.severity for one in found}
    assert (6, 3) == (len(found[0].evidence), len(found[0].breaks))


def test_server_that_accepts_in_the_end_is_a_note() -> None:
    """It was starting."""
    works = (*handshake(20.0), *exchange(20.1))

    assert [Severity.NOTE] == [one.severity for one in refused(case_of(*tries(2), *works))]


def test_refused_ports_of_a_scan_are_no_finding() -> None:
    """Nobody needs them."""
    lines = [
        line for port in range(30) for line in tries(1, f"198.18.4.9.{port + 1}", 42_000 + port)
    ]

    assert refused(case_of(*lines)) == []


def test_diagnosis_does_not_tell_them_beside_its_own_causes() -> None:
    """There the walk says why."""
    case = case_of(*tries(2))

    assert "connections-refused" not in [one.check for one in look_at_captures(case)]
