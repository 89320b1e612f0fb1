"""A SYN-ACK that comes again shows a lost ACK only where the server goes on waiting."""

from __future__ import annotations

from podpath.checks.finding import Severity
from tests.checks.made_captures import CLIENT, SERVER, case_of, found, handshake, tcp

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"


def answer(after: float) -> str:
    """Write the server's SYN-ACK."""
    return tcp(after, BACK, "S.", 77_000, 1001)


def acknowledge(after: float) -> str:
    """Write the client's answer to it."""
    return tcp(after, FORTH, ".", 0, 1)


def severity(*lines: str) -> Severity:
    """Return how grave it is that the first handshake's SYN-ACK comes again."""
    other = f"{CLIENT[:-5]}42000"
    ((finding),) = found(case_of(*handshake(), *lines, *handshake(30.0, other)), "lost-ack")
    return finding.severity


def test_server_that_repeats_its_answer_once_waits_for_data() -> None:
    """With TCP_DEFER_ACCEPT it drops the first ACK, and takes the next."""
    assert severity(answer(1.3), acknowledge(1.31)) == Severity.NOTE


def test_server_that_goes_on_repeating_has_no_ack() -> None:
    """Each ACK is lost, or the last one is not even sent."""
    first = (answer(1.3), acknowledge(1.31), answer(3.3), acknowledge(3.31))

    assert severity(*first, answer(24.0), acknowledge(24.01)) == Severity.FAULT
    assert severity(answer(1.3)) == Severity.FAULT


def test_client_that_sends_data_in_vain_has_no_connection() -> None:
    """The server waits for nothing but the ACK that it does not get."""
    data = tuple(tcp(after, FORTH, "P.", 1, 1, 80) for after in (0.1, 0.4, 1.0, 2.0))

    assert severity(*sorted((*data, answer(1.3), acknowledge(1.31)))) == Severity.FAULT
